// SPDX-License-Identifier: Apache-2.0
//
// Operands of TreeEnsemble for random models: nodes and records that describe trees together, which
// chance alone would not (core/operators/ml/tree_ensemble.h).
#pragma once

#include <optional>
#include <vector>

#include "test/random/execute.h"
#include "test/random/random.h"

namespace intarsia::test {

/// Whether the operand is drawn here, and must therefore be a new one.
bool describes_trees(const OperatorDefinition& op, size_t operand);

/// Extents of that operand: few trees, and more than kernels walk through at a time.
std::vector<int64_t> tree_extents(size_t operand, Random& random);

/// Nodes of a complete tree as large as the node's attributes permit, or records of trees that all
/// have these nodes. Nothing if no such nodes have these extents.
std::optional<Constant> draw_trees(const Candidate& candidate, size_t operand, DataType type,
                                   const std::vector<int64_t>& extents, Random& random);

}  // namespace intarsia::test
