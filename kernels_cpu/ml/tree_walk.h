// SPDX-License-Identifier: Apache-2.0
//
// A row through many trees at a time, on the vectors of one instruction set.
#pragma once

#include <cstdint>

#include "core/operators/ml/tree_ensemble.h"
#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// The most trees that are walked through at a time, and of how many that is a multiple.
inline constexpr int kWalkedTrees = 32;
inline constexpr int kWalkedTogether = 8;

/// Steps after which deep trees ask whether all walks have ended.
inline constexpr int kWalkedSteps = 8;

/// Where walks of one row begin, and how long they are.
struct TreeWalks {
  const TreeNode<float>* nodes;
  int feature_bits;
  int child_shift;
  bool missing;           ///< Some node sends NaN to its first child.
  const uint32_t* trees;  ///< [kWalkedTrees], aligned to 32 bytes: where each tree begins.
  int count;              ///< Of those whose leaves are wanted.
  int32_t depth;          ///< Of the deepest one.
};

template <Isa I>
struct TreeWalk {
  /// leaves[i] = the place among all nodes of the leaf that `row` reaches in tree i. `row` has
  /// 2^feature_bits numbers; leaves are as many and aligned as the trees are.
  static void walk(const TreeWalks& walks, const float* row, uint32_t* leaves);
};

}  // namespace intarsia::cpu
