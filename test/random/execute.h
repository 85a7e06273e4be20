// SPDX-License-Identifier: Apache-2.0
//
// One node of a random model, alone: what its shape rule says of it, and what its reference kernel
// computes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/plugin/extension.h"
#include "test/random/random_model.h"

namespace intarsia::test {

/// A node whose attributes are read. Outputs that are not wanted are absent.
struct Candidate {
  const OperatorDefinition* op = nullptr;
  definitions::AttributeMap attributes;
  std::vector<std::byte> blob;
  std::vector<bool> outputs;
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

/// Sets `definition.result_type`, and bounds extents that only values tell, as a user would who
/// knows the values: what is executed may not exceed them. Nothing unless every wanted output has a
/// type and extents of which the largest are at most `most` elements.
std::optional<OutputBounds> settle_outputs(const Candidate& candidate,
                                           std::vector<definitions::SymbolicOutput>& outputs,
                                           int64_t most);

/// The outputs as other shape rules see them, with what shape arithmetic knows of their elements.
std::vector<definitions::SymbolicInput> results_seen(
    const Candidate& candidate, const std::vector<definitions::SymbolicInput>& inputs,
    const std::vector<definitions::SymbolicOutput>& outputs);

}  // namespace intarsia::test
