// SPDX-License-Identifier: Apache-2.0
//
// What the user says of a model's inputs: ranges of symbolic dimensions, fixed extents, values that
// become constants or that the plan is made for, and layouts. States: converter/entries.h.
#pragma once

#include "converter/convert.h"

namespace intarsia::converter {

/// Applies `--fix`, `--value`, `--shape` and `--dim` to the model's inputs. Throws Error for names
/// that the model lacks, contradictions, and for every symbol that is left without a range.
void apply_input_options(Model& model, const ConvertOptions& options);

/// Largest extents by tensor name.
using Bounds = std::map<std::string, std::vector<int64_t>, std::less<>>;
/// Those of `--bound`, and of each value that is declared with a symbol which no input has and
/// `--dim` names: only a run can tell such an extent, so the range gives its upper end.
Bounds declared_bounds(const Model& model, const ConvertOptions& options);

/// Puts a Transpose behind each input of `--layout INPUT=nhwc`, whose extents become channels-last.
/// REQUIRES: extents of inputs are settled, nothing else is inferred.
void apply_layouts(Model& model, const ConvertOptions& options);

}  // namespace intarsia::converter
