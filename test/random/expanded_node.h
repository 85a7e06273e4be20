// SPDX-License-Identifier: Apache-2.0
//
// The nodes that stand for one whose operator becomes others (core/definitions/expansion.h), as
// inference writes them for the operands of a random model.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "converter/graph/graph.h"
#include "test/random/execute.h"
#include "test/random/rounding.h"

namespace intarsia::test {

class ExpandedNode {
 public:
  /// Null if inference refuses the operands (null: absent); `refusal` may then tell what would do.
  static std::shared_ptr<const ExpandedNode> make(const Candidate& candidate,
                                                  std::span<const RandomTensor* const> operands,
                                                  const definitions::SymbolTable& symbols,
                                                  const converter::OperatorLibrary& library,
                                                  Diagnostic* refusal);

  /// What inference says of the results.
  std::vector<definitions::SymbolicOutput> outputs() const;
  std::vector<definitions::SymbolicInput> seen() const;

  /// The results, node by node; errors grow on the way. Nothing if a node fails, or if nothing
  /// could be compared with what it computes.
  std::optional<Results> execute(std::span<const Constant* const> inputs,
                                 std::span<const double> input_errors,
                                 const converter::OperatorLibrary& library, Random& random) const;

 private:
  converter::Model model_;
  std::vector<converter::Value*> inputs_;  // null: absent
  std::vector<int> outputs_;               // which of the graph's; -1: absent
};

}  // namespace intarsia::test
