// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of the converter's own TreeEnsemble, of which the operators of
// ai.onnx.ml that hold decision trees are made, and the form of its nodes.
//
// Inputs: X [rows, columns], or one row [columns]; nodes [count, words] as TreeNode<T> says;
// trees [number, 4] as TreeRecord; weights [votes]; and, where votes name their targets, targets
// [votes]. The result is [rows, targets].
//
// All comparisons are x <= threshold: whoever makes the nodes brings others into this form. A leaf
// has a threshold that is no number, which holds its place among the weights, and is its own second
// child, so that a walk of as many steps as the tree is deep ends there without asking. What a node
// says of children and features is bounded by the bits that it has for them; that memory of this
// size is there is all that there is to prove.
#pragma once

#include <bit>
#include <cstdint>

#include "intarsia/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

/// A node of a tree. Bits of `way`, from the lowest: the feature that is compared (`feature_bits`),
/// one that says whether NaN goes to the first child, and at the top (`child_bits`) the place of
/// the first child in the tree; the second child lies behind it. The root is node 1.
template <class T>
struct TreeNode {
  using Way = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr int kWayBits = static_cast<int>(8 * sizeof(Way));
  /// Of a leaf's threshold: the place of its votes behind the tree's first.
  static constexpr Way kVoteMask = sizeof(T) == 4 ? 0x3fffff : 0x7ffffffffffff;
  /// Of a number that is none: what a leaf has besides.
  static constexpr Way kLeafBits = sizeof(T) == 4 ? 0x7fc00000 : 0x7ff8000000000000;

  T threshold;
  Way way;
};

/// One tree: its first node, the steps to its deepest leaf, the first of its votes, and the target
/// of the first vote of each leaf where votes do not name targets.
struct TreeRecord {
  int32_t base;
  int32_t depth;
  int32_t vote;
  int32_t target;
};

struct TreeEnsembleAttributes {
  enum Aggregate : int32_t { kSum = 0, kMin = 1, kMax = 2 };
  int32_t features = 1;    ///< Columns of X that are read, from the first on.
  int32_t child_bits = 1;  ///< See TreeNode.
  int32_t targets = 1;
  int32_t votes = 0;  ///< Of each leaf, for neighbouring targets; 0: votes name their targets.
  int32_t aggregate = kSum;
  int32_t missing = 0;  ///< Some node sends NaN to its first child.

  template <class V>
  void fields(V& v) {
    v("features", features, at_least(1));
    v("child_bits", child_bits, between(1, 31));
    v("targets", targets, at_least(1));
    v("votes", votes, at_least(0));
    v.choice("aggregate", aggregate, {"SUM", "MIN", "MAX"});
    v("missing", missing, kFlag);
  }
  /// Bits of the feature in TreeNode::way.
  int feature_bits() const {
    return features > 1 ? std::bit_width(static_cast<uint32_t>(features) - 1) : 0;
  }
};
static_assert(is_plan_struct<TreeEnsembleAttributes>);

namespace ops {

struct TreeEnsemble {
  using Attributes = TreeEnsembleAttributes;
  static constexpr std::string_view name = "TreeEnsemble";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<Attributes>();
    const int rank = s.rank(0);
    if (rank != 1 && rank != 2) return s.fail(Code::kWrongRank, "rank of X", 2, rank, 0);
    if (s.rank(1) != 2) return s.fail(Code::kWrongRank, "rank of nodes", 2, s.rank(1), 1);
    if (s.rank(2) != 2) return s.fail(Code::kWrongRank, "rank of trees", 2, s.rank(2), 2);
    if (s.rank(3) != 1) return s.fail(Code::kWrongRank, "rank of weights", 1, s.rank(3), 3);
    if (a.features < 1) return s.fail(Code::kInvalidValue, "features", 1, a.features);
    if (a.targets < 1) return s.fail(Code::kInvalidValue, "targets", 1, a.targets);
    if (a.votes < 0 || a.votes > a.targets) {
      return s.fail(Code::kInvalidValue, "votes of a leaf", a.targets, a.votes);
    }
    const int words = s.type(0) == DataType::kDouble ? 2 : 1;
    const int bits = 32 * words - 1 - a.feature_bits();
    if (a.child_bits < 1 || a.child_bits > 31 || a.child_bits > bits) {
      return s.fail(Code::kInvalidValue, "bits of a child", bits, a.child_bits);
    }
    Status t = s.require_at_least(a.features, s.dim(0, rank - 1), "columns of X", 0, rank - 1);
    if (t.ok()) t = s.require_equal(words, s.dim(1, 1), "words of a node", 1, 1);
    if (t.ok()) t = s.require_equal(4, s.dim(2, 1), "numbers of a tree", 2, 1);
    if (t.ok()) t = s.require_at_least(a.votes > 1 ? a.votes : 1, s.dim(3, 0), "weights", 3, 0);
    if (t.ok() && a.votes == 0) {
      if (s.rank(4) != 1) return s.fail(Code::kWrongRank, "rank of targets", 1, s.rank(4), 4);
      t = s.require_equal(s.dim(3, 0), s.dim(4, 0), "targets", 4, 0);
    }
    if (!t) return t;
    Shape<typename S::Dim> y;
    y.push(rank == 2 ? s.dim(0, 0) : typename S::Dim(1));
    y.push(a.targets);
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace ops
}  // namespace intarsia
