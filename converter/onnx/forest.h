// SPDX-License-Identifier: Apache-2.0
//
// Decision trees on their way from the lists of ai.onnx.ml's operators to the nodes of the
// converter's own TreeEnsemble (core/operators/ml/tree_ensemble.h).
//
// There all comparisons are x <= threshold, with a word on where NaN goes:
//   x < t   is  x <= the number below t
//   x > t   is  x <= t  with the branches exchanged
//   x == t, and being a member of a set, is a search among the sorted members m: x <= m, and, of
//   the one member that is left, x <= the number below it
// so that sets of any size cost a few steps. Functions throw `converter::Error`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// What one node of the model says, by the places of others in `Forest::nodes`.
struct SourceNode {
  /// In the order of TreeEnsemble's `nodes_modes`.
  enum Mode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };
  Mode mode = kLeaf;
  bool missing_tracks_true = false;
  double value = 0;  ///< What is compared with.
  int64_t feature = 0;
  int64_t yes = -1, no = -1;  ///< Branches where the comparison holds, and where not.
  /// Of a leaf the range of its votes, of kMember that of its members.
  int64_t first = 0, count = 0;
};

struct Vote {
  int64_t target = 0;
  double weight = 0;
};

struct Forest {
  std::vector<SourceNode> nodes;
  std::vector<int64_t> roots;
  std::vector<Vote> votes;
  std::vector<double> members;
  int64_t targets = 1;
  std::string aggregate = "SUM";  ///< Or "MIN" or "MAX".
};

/// A node of TreeEnsemble in front of `node` with the results [rows, targets] of all trees, and
/// their type: double where `precise` or where `x` is of doubles, else float unless trees are too
/// large for its nodes.
struct ForestScores {
  Value* value = nullptr;
  DataType type = DataType::kFloat;
};
ForestScores emit_forest(Node& node, Value* x, const Forest& forest, bool precise);

}  // namespace intarsia::converter
