// SPDX-License-Identifier: Apache-2.0
//
// Backward entry points: `--gradient OUTPUT=INPUT,...` and `--trainable NAME`.
//
// The gradients that options ask for become nodes of the model's own graph, by the same rules as
// those of the operator Gradient (converter/graph/gradient.h), before anything is folded or fused.
// Passes see one graph. Then it is cut: what the model's outputs need is the entry point as it was,
// the rest is a second one, which reads what the first has left in the arena.
//
//     forward:  x, w -> loss          backward:  [loss_grad] -> x_grad, w_grad
//
// An output of several elements has an input OUTPUT_grad, of its type and extents; the gradients
// are those of the sum of all outputs, each weighted by its input. An output of one element counts
// once and has no such input. Each gradient is an output INPUT_grad.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "converter/entries.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// What the names of gradients end with.
inline constexpr const char* kGradientSuffix = "_grad";

/// Turns initialisers that are trainable into inputs. Throws Error for names that no entry point
/// has. REQUIRES: the models are as imported.
void release_trainable(std::vector<EntryModel>& entries, const ConvertOptions& options);

/// Adds what the entry's own requests ask for, as nodes Gradient that are not expanded yet.
/// `output_names` are those of the outputs, which inference may have made values of other names;
/// the names of what is added follow. REQUIRES: inferred.
void add_gradients(EntryModel& entry, Inference& inference, std::vector<std::string>& output_names);

/// Puts behind each entry what `add_gradients` has added to it, as an entry of its own: `backward`,
/// or ENTRY_backward where there are several. A model alone that has no name becomes `forward`.
/// REQUIRES: all passes are done.
void cut_backward(std::vector<EntryModel>& entries);

/// The inputs that weight outputs whose extents vary, with those outputs: their extents are those
/// that the run of the forward entry has found.
std::unordered_map<const Value*, const Value*> seed_extents(const std::vector<EntryModel>& entries);

/// Lets an entry point that continues another read states as the other's run has found them: where
/// that run gives a state a new value, the old one is copied.
void keep_states(const std::vector<EntryModel>& entries, const std::vector<State>& states);

}  // namespace intarsia::converter
