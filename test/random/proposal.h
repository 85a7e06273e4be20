// SPDX-License-Identifier: Apache-2.0
//
// One attempt at a node: operator, attributes and operands, mended where the shape rule says what
// it wants instead.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "test/random/operands.h"

namespace intarsia::test {

/// The tensors that a node may read, by number in the model.
using Pool = std::vector<int>;

/// An operand: a tensor of the model, a new one, or nothing.
struct Operand {
  int tensor = -1;
  bool fresh = false;
  RandomTensor made;  ///< if fresh

  bool present() const { return tensor >= 0 || fresh; }
};

/// What a proposal became.
struct Proposal {
  Candidate candidate;
  std::vector<Operand> operands;
  std::vector<RandomTensor> outputs;  ///< absent ones have no type
};

/// A node of `op` that its shape rule and its reference kernel take in every run of `model`; or
/// nothing.
std::optional<Proposal> propose(const OperatorDefinition& op, const RandomModel& model,
                                const Pool& pool, const converter::OperatorLibrary& library,
                                Random& random);

}  // namespace intarsia::test
