// SPDX-License-Identifier: Apache-2.0
//
// TreeEnsemble of ai.onnx.ml 5, as the converter's own operator of that name (forest.h). Nodes and
// leaves stand in lists of their own. Source: onnx/docs/Operators-ml.md.
#include <algorithm>
#include <cmath>

#include "converter/onnx/forest.h"
#include "converter/onnx/score_steps.h"

namespace intarsia::converter::version_steps {
namespace {

class Reader {
 public:
  explicit Reader(const Node& node) : node_(node) {}

  Forest read() {
    read_leaves();
    read_nodes();
    for (const int64_t root : list("tree_roots")) forest_.roots.push_back(index(root, nodes_));
    // Leaves stand behind the nodes.
    for (size_t i = 0; i < weights_.size(); ++i) {
      SourceNode leaf;
      leaf.first = static_cast<int64_t>(i);
      leaf.count = 1;
      forest_.nodes.push_back(leaf);
      forest_.votes.push_back({targets_[i], weights_[i]});
    }
    return std::move(forest_);
  }
  bool precise() const { return precise_; }

 private:
  std::vector<int64_t> list(const char* name) const {
    std::vector<int64_t> found = node_.integers(name);
    if (found.empty()) throw Error(node_.problem("lacks the list '" + std::string(name) + "'"));
    return found;
  }
  void require(const std::string& name, size_t found, size_t expected) const {
    if (found == expected) return;
    throw Error(
        node_.problem("attribute '" + name + "' has " + std::to_string(found) +
                          " elements, expected " + std::to_string(expected),
                      "the lists of nodes, and those of leaves, are as long as one another"));
  }
  std::vector<int64_t> list(const char* name, size_t expected) const {
    std::vector<int64_t> found = node_.integers(name);
    require(name, found.size(), expected);
    return found;
  }
  /// A tensor of real numbers; empty if there is none and none is required.
  std::vector<double> tensor(const char* name, bool required) {
    const auto found = node_.tensors.find(name);
    if (found == node_.tensors.end() && !required) return {};
    if (found == node_.tensors.end() || !found->second.is_real()) {
      throw Error(node_.problem("lacks the tensor of real numbers '" + std::string(name) + "'"));
    }
    precise_ = precise_ || found->second.type == DataType::kDouble;
    return found->second.reals();
  }
  int64_t index(int64_t value, size_t count) const {
    if (value >= 0 && value < static_cast<int64_t>(count)) return value;
    throw Error(node_.problem(
        "refers to node or leaf " + std::to_string(value) + " of " + std::to_string(count),
        "the model is invalid; export it again"));
  }

  void read_leaves() {
    weights_ = tensor("leaf_weights", true);
    targets_ = list("leaf_targetids", weights_.size());
    if (weights_.empty()) throw Error(node_.problem("has no leaves"));
    forest_.targets =
        node_.integer("n_targets", *std::max_element(targets_.begin(), targets_.end()) + 1);
    for (const int64_t target : targets_) {
      if (target >= 0 && target < forest_.targets) continue;
      throw Error(node_.problem("attribute 'leaf_targetids' has " + std::to_string(target) +
                                ", expected 0 to " + std::to_string(forest_.targets - 1)));
    }
  }

  void read_nodes() {
    const std::vector<int64_t> features = list("nodes_featureids");
    const size_t count = nodes_ = features.size();
    const std::vector<double> splits = tensor("nodes_splits", true);
    require("nodes_splits", splits.size(), count);
    const std::vector<int64_t> yes = list("nodes_truenodeids", count);
    const std::vector<int64_t> no = list("nodes_falsenodeids", count);
    const std::vector<int64_t> yes_leafs = list("nodes_trueleafs", count);
    const std::vector<int64_t> no_leafs = list("nodes_falseleafs", count);
    std::vector<int64_t> missing = node_.integers("nodes_missing_value_tracks_true");
    if (missing.empty()) missing.resize(count);
    require("nodes_missing_value_tracks_true", missing.size(), count);
    const auto modes = node_.tensors.find("nodes_modes");
    if (modes == node_.tensors.end() || modes->second.type != DataType::kUint8) {
      throw Error(node_.problem("lacks the tensor of uint8 'nodes_modes'"));
    }
    require("nodes_modes", static_cast<size_t>(modes->second.count()), count);
    const auto child = [&](int64_t is_leaf, int64_t place) {
      if (is_leaf == 0) return index(place, count);
      return static_cast<int64_t>(count) + index(place, weights_.size());
    };
    given_ = tensor("membership_values", false);
    for (size_t i = 0; i < count; ++i) {
      const int64_t mode = modes->second.integer(static_cast<int64_t>(i));
      if (mode > SourceNode::kMember) {
        throw Error(node_.problem("attribute 'nodes_modes' has " + std::to_string(mode) +
                                  ", expected 0 to " + std::to_string(SourceNode::kMember)));
      }
      SourceNode source;
      source.mode = static_cast<SourceNode::Mode>(mode);
      source.missing_tracks_true = missing[i] != 0;
      source.value = splits[i];
      source.feature = features[i];
      source.yes = child(yes_leafs[i], yes[i]);
      source.no = child(no_leafs[i], no[i]);
      read_members(source);
      forest_.nodes.push_back(source);
    }
  }

  /// The set that a node compares with: of BRANCH_MEMBER the next one, which ends with NaN.
  void read_members(SourceNode& source) {
    std::vector<double> set;
    if (source.mode == SourceNode::kMember) {
      if (next_ >= given_.size()) {
        throw Error(node_.problem("has more nodes BRANCH_MEMBER than sets in 'membership_values'",
                                  "each set ends with NaN"));
      }
      for (; next_ < given_.size() && !std::isnan(given_[next_]); ++next_) {
        set.push_back(given_[next_]);
      }
      ++next_;
    } else if (source.mode == SourceNode::kEq || source.mode == SourceNode::kNeq) {
      if (!std::isnan(source.value)) set.push_back(source.value);
    }
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    source.first = static_cast<int64_t>(forest_.members.size());
    source.count = static_cast<int64_t>(set.size());
    forest_.members.insert(forest_.members.end(), set.begin(), set.end());
  }

  const Node& node_;
  Forest forest_;
  std::vector<double> weights_, given_;
  std::vector<int64_t> targets_;
  size_t nodes_ = 0, next_ = 0;
  bool precise_ = false;
};

template <size_t Count>
std::string name_at(const Node& node, const char* attribute, int64_t fallback,
                    const char* const (&names)[Count]) {
  const int64_t value = node.integer(attribute, fallback);
  if (value >= 0 && value < static_cast<int64_t>(Count)) return names[value];
  throw Error(node.problem("attribute '" + std::string(attribute) + "' is " +
                           std::to_string(value) + ", expected 0 to " + std::to_string(Count - 1)));
}

}  // namespace

void tree_ensemble(Node& node) {
  require_input(node, 0, "X");
  const DataType type = known_type(node, 0, "X");
  const std::string transform =
      name_at(node, "post_transform", 0, {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
  const std::string aggregate =
      name_at(node, "aggregate_function", 1, {"AVERAGE", "SUM", "MIN", "MAX"});
  Reader reader(node);
  Forest forest = reader.read();
  forest.aggregate = aggregate == "AVERAGE" ? "SUM" : aggregate;
  ForestScores scores = emit_forest(node, node.input(0), forest, reader.precise());
  if (aggregate == "AVERAGE") {
    const auto trees = static_cast<double>(forest.roots.size());
    Value* count = constant(node, "trees", Constant::scalar_of(scores.type, trees));
    scores.value = emit(node, "Div", {scores.value, count});
  }
  Value* result = transformed(node, scores.value, scores.type, forest.targets, transform);
  node.tensors.clear();
  become_results(node, {scores.type == type ? result : as_type(node, result, type)});
}

}  // namespace intarsia::converter::version_steps
