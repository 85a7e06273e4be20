// SPDX-License-Identifier: Apache-2.0
//
// One node of a random model, alone: what its shape rule says of it, and what its reference kernel
// computes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/plugin/extension.h"
#include "test/random/random_model.h"

namespace intarsia::test {

class ExpandedNode;

/// A node whose attributes are read. Outputs that are not wanted are absent.
struct Candidate {
  const OperatorDefinition* op = nullptr;
  definitions::AttributeMap attributes;
  std::vector<std::byte> blob;
  std::vector<bool> outputs;
  /// The nodes that are executed in its place, of an operator that becomes others.
  std::shared_ptr<const ExpandedNode> expanded = nullptr;
};

/// What a shape rule sees of a tensor whose elements are known.
definitions::SymbolicInput known_input(const Constant& constant);

/// Executes the node on `inputs` (null: absent) by its reference kernel; absent outputs are empty.
/// Nothing if the operator refuses the operands, or no kernel serves them.
std::optional<std::vector<Constant>> execute(const Candidate& candidate,
                                             std::span<const Constant* const> inputs,
                                             const converter::OperatorLibrary& library);

/// Per output the extents that `--bound` gives; empty where it need not.
using OutputBounds = std::vector<std::vector<int64_t>>;

/// What inference says of a node's results.
struct Inferred {
  std::vector<definitions::SymbolicOutput> outputs;
  OutputBounds bounds;
  /// The outputs as other shape rules see them, with what is known of their elements.
  std::vector<definitions::SymbolicInput> seen;
};

/// Infers a node with these operands (null: absent). Extents that only values tell are bounded, as
/// a user would who knows the values: what is executed may not exceed them. Of an operator that
/// becomes others, the candidate gets the nodes that stand for it. Nothing if the operands are
/// refused, which `refusal` then tells, or unless every wanted output has a type and extents of
/// which the largest are at most `most` elements.
std::optional<Inferred> infer(Candidate& candidate, std::span<const RandomTensor* const> operands,
                              const definitions::SymbolTable& symbols, int64_t most,
                              const converter::OperatorLibrary& library,
                              Diagnostic* refusal = nullptr);

}  // namespace intarsia::test
