// SPDX-License-Identifier: Apache-2.0
//
// The operators of ai.onnx.ml that are decision trees, as the converter's own TreeEnsemble
// (forest.h) and what is made of its scores. Source: onnx/docs/Operators-ml.md, and where it is
// vague ONNX Runtime; where that does what can only be meant otherwise, it is said.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "converter/onnx/forest.h"
#include "converter/onnx/score_steps.h"

namespace intarsia::converter::version_steps {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require_size(const Node& node, const std::string& name, size_t found, size_t expected) {
  if (found == expected) return;
  throw Error(node.problem("attribute '" + name + "' has " + std::to_string(found) +
                               " elements, expected " + std::to_string(expected),
                           "the lists of nodes, and those of weights, are as long as one another"));
}

/// A list of numbers that may be a tensor of doubles, "NAME_as_tensor", instead; `precise` is set
/// if it is.
std::vector<double> numbers(const Node& node, const std::string& name, bool& precise) {
  const auto tensor = node.tensors.find(name + "_as_tensor");
  if (tensor == node.tensors.end() || tensor->second.count() == 0) {
    const std::vector<float> list = node.reals(name);
    return {list.begin(), list.end()};
  }
  if (!tensor->second.is_real()) {
    throw Error(node.problem("attribute '" + name + "_as_tensor' is no tensor of real numbers"));
  }
  precise = precise || tensor->second.type == DataType::kDouble;
  return tensor->second.reals();
}

SourceNode::Mode mode_of(const Node& node, const std::string& name) {
  static constexpr const char* kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                           "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames) || name == "BRANCH_MEMBER") {
    throw Error(node.problem("attribute 'nodes_modes' has '" + name + "'",
                             "it may have BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, "
                             "BRANCH_NEQ and LEAF"));
  }
  return static_cast<SourceNode::Mode>(found - kNames);
}

/// Lets a node that compares for equality do so with a set of one.
void make_member(Forest& forest, SourceNode& source) {
  if (source.mode != SourceNode::kEq && source.mode != SourceNode::kNeq) return;
  source.first = static_cast<int64_t>(forest.members.size());
  source.count = std::isnan(source.value) ? 0 : 1;
  if (source.count == 1) forest.members.push_back(source.value);
}

/// The lists of a classifier or regressor: `prefix` is "class" or "target".
class ListReader {
 public:
  ListReader(const Node& node, std::string prefix) : node_(node), prefix_(std::move(prefix)) {}

  Forest read() {
    forest_.aggregate = node_.text("aggregate_function", "SUM");
    if (forest_.aggregate == "AVERAGE") forest_.aggregate = "SUM";
    read_nodes();
    read_votes();
    return std::move(forest_);
  }
  bool precise() const { return precise_; }

 private:
  /// The node of this number of this tree.
  struct Name {
    int64_t tree, number, index;
    friend auto operator<=>(const Name&, const Name&) = default;
  };

  int64_t find(int64_t tree, int64_t number) const {
    const auto found = std::lower_bound(names_.begin(), names_.end(), Name{tree, number, -1});
    if (found != names_.end() && found->tree == tree && found->number == number) {
      return found->index;
    }
    throw Error(node_.problem("lacks node " + std::to_string(number) + " of tree " +
                                  std::to_string(tree) + ", which others refer to",
                              "the model is invalid; export it again"));
  }

  void read_nodes() {
    const std::vector<int64_t> trees = node_.integers("nodes_treeids");
    const std::vector<int64_t> numbers_of = node_.integers("nodes_nodeids");
    const std::vector<int64_t> features = node_.integers("nodes_featureids");
    const std::vector<int64_t> yes = node_.integers("nodes_truenodeids");
    const std::vector<int64_t> no = node_.integers("nodes_falsenodeids");
    const std::vector<int64_t> missing = node_.integers("nodes_missing_value_tracks_true");
    const std::vector<double> values = numbers(node_, "nodes_values", precise_);
    const auto* attribute = node_.attribute("nodes_modes");
    const auto* modes =
        attribute == nullptr ? nullptr : std::get_if<std::vector<std::string>>(attribute);
    if (modes == nullptr || modes->empty()) {
      throw Error(node_.problem("lacks the list of strings 'nodes_modes'"));
    }
    const size_t count = modes->size();
    require_size(node_, "nodes_treeids", trees.size(), count);
    require_size(node_, "nodes_nodeids", numbers_of.size(), count);
    require_size(node_, "nodes_featureids", features.size(), count);
    require_size(node_, "nodes_truenodeids", yes.size(), count);
    require_size(node_, "nodes_falsenodeids", no.size(), count);
    require_size(node_, "nodes_values", values.size(), count);
    if (!missing.empty()) {
      require_size(node_, "nodes_missing_value_tracks_true", missing.size(), count);
    }
    for (size_t i = 0; i < count; ++i) {
      names_.push_back({trees[i], numbers_of[i], static_cast<int64_t>(i)});
    }
    std::sort(names_.begin(), names_.end());
    for (size_t i = 1; i < count; ++i) {
      if (names_[i].tree == names_[i - 1].tree && names_[i].number == names_[i - 1].number) {
        throw Error(node_.problem("has node " + std::to_string(names_[i].number) + " of tree " +
                                  std::to_string(names_[i].tree) + " twice"));
      }
    }
    for (size_t i = 0; i < count; ++i) {
      SourceNode source;
      source.mode = mode_of(node_, (*modes)[i]);
      if (source.mode != SourceNode::kLeaf) {
        source.missing_tracks_true = !missing.empty() && missing[i] == 1;
        source.value = values[i];
        source.feature = features[i];
        source.yes = find(trees[i], yes[i]);
        source.no = find(trees[i], no[i]);
        make_member(forest_, source);
      }
      forest_.nodes.push_back(source);
    }
    // A tree begins with the first of its nodes in the list.
    for (size_t i = 0; i < names_.size();) {
      int64_t root = names_[i].index;
      const int64_t tree = names_[i].tree;
      for (; i < names_.size() && names_[i].tree == tree; ++i) {
        root = std::min(root, names_[i].index);
      }
      forest_.roots.push_back(root);
    }
  }

  void read_votes() {
    const std::vector<int64_t> trees = node_.integers(prefix_ + "_treeids");
    const std::vector<int64_t> numbers_of = node_.integers(prefix_ + "_nodeids");
    const std::vector<int64_t> targets = node_.integers(prefix_ + "_ids");
    const std::vector<double> weights = numbers(node_, prefix_ + "_weights", precise_);
    require_size(node_, prefix_ + "_treeids", trees.size(), targets.size());
    require_size(node_, prefix_ + "_nodeids", numbers_of.size(), targets.size());
    require_size(node_, prefix_ + "_weights", weights.size(), targets.size());
    struct Entry {
      int64_t node, target;
      size_t index;
      bool operator<(const Entry& other) const {
        return std::tie(node, target, index) < std::tie(other.node, other.target, other.index);
      }
    };
    std::vector<Entry> entries;
    for (size_t i = 0; i < targets.size(); ++i) {
      entries.push_back({find(trees[i], numbers_of[i]), targets[i], i});
    }
    std::sort(entries.begin(), entries.end());
    for (const Entry& entry : entries) {
      // Old exporters give nodes that are no leaves weights too, which mean nothing.
      SourceNode& leaf = forest_.nodes[static_cast<size_t>(entry.node)];
      if (leaf.mode != SourceNode::kLeaf) continue;
      if (leaf.count++ == 0) leaf.first = static_cast<int64_t>(forest_.votes.size());
      forest_.votes.push_back({entry.target, weights[entry.index]});
    }
    // A leaf that votes for nothing changes nothing, whatever the target.
    const int64_t any = forest_.votes.empty() ? 0 : forest_.votes[0].target;
    for (SourceNode& leaf : forest_.nodes) {
      if (leaf.mode != SourceNode::kLeaf || leaf.count != 0) continue;
      leaf.first = static_cast<int64_t>(forest_.votes.size());
      leaf.count = 1;
      const double nothing = forest_.aggregate == "MIN"   ? kInfinity
                             : forest_.aggregate == "MAX" ? -kInfinity
                                                          : 0;
      forest_.votes.push_back({any, nothing});
    }
    if (forest_.votes.empty()) throw Error(node_.problem("has no leaves in its trees"));
  }

  const Node& node_;
  std::string prefix_;
  Forest forest_;
  std::vector<Name> names_;
  bool precise_ = false;
};

/// The targets that are voted for.
int64_t most_targets(const Forest& forest) {
  int64_t most = 0;
  for (const Vote& vote : forest.votes) most = std::max(most, vote.target);
  return most < std::numeric_limits<int64_t>::max() ? most + 1 : most;
}

void require_targets(const Node& node, const Forest& forest, const std::string& name) {
  for (const Vote& vote : forest.votes) {
    if (vote.target >= 0 && vote.target < forest.targets) continue;
    throw Error(node.problem("attribute '" + name + "' has " + std::to_string(vote.target) +
                             ", expected 0 to " + std::to_string(forest.targets - 1)));
  }
}

void require_aggregate(const Node& node, const Forest& forest) {
  if (forest.aggregate == "SUM" || forest.aggregate == "MIN" || forest.aggregate == "MAX") return;
  throw Error(node.problem("attribute 'aggregate_function' is '" + forest.aggregate + "'",
                           "it has to be SUM, AVERAGE, MIN or MAX"));
}

ForestScores plus(Node& node, const ForestScores& scores, const std::vector<double>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Value* base = reals(node, "base_values", scores.type, values, {count});
  return {emit(node, "Add", {scores.value, base}), scores.type};
}

ForestScores divided(Node& node, const ForestScores& scores, size_t trees) {
  Value* count =
      constant(node, "trees", Constant::scalar_of(scores.type, static_cast<double>(trees)));
  return {emit(node, "Div", {scores.value, count}), scores.type};
}

/// A classifier of two labels whose leaves vote for one of them only, as that of a binary problem:
/// what they say is held against 0.5, or, where some weigh less than 0, against 0. Gives the
/// position of the label, and the scores. Votes for the first label, unless each label has a base
/// value, are one score, of which both columns are made; else the other column has no votes.
std::vector<Value*> binary_classes(Node& node, Forest forest, bool precise,
                                   const std::vector<double>& base, const std::string& transform) {
  const auto voted = static_cast<size_t>(forest.votes[0].target);
  const bool single = voted == 0 && base.size() < 2;
  const bool positive = std::all_of(forest.votes.begin(), forest.votes.end(),
                                    [](const Vote& vote) { return vote.weight >= 0; });
  if (single) forest.targets = 1;
  ForestScores scores = emit_forest(node, node.input(0), forest, precise);
  // One base value is that of the first label. (Of two, ONNX Runtime leaves that out for which
  // there are no votes, and drops the votes for the second label.)
  if (single ? !base.empty() : base.size() == 2) scores = plus(node, scores, base);
  Value* column = scores.value;
  if (!single) {
    Value* which = constant(node, "voted", Constant::ints({static_cast<int64_t>(voted)}));
    column = emit(node, "Gather", {column, which}, {{"axis", int64_t{1}}});
  }
  Value* best = above(node, column, scores.type, positive ? 0.5 : 0);
  Value* result = as_type(node, scores.value, DataType::kFloat);
  if (!single) return {best, transformed(node, result, DataType::kFloat, 2, transform)};
  // As ONNX Runtime has it, LOGISTIC is the only transform that is taken of one score; but PROBIT
  // of both columns, as in ONNX's reference: ONNX Runtime leaves one of them as it is.
  const bool logistic = transform == "LOGISTIC", probit = transform == "PROBIT";
  const bool rest = probit || (positive && !logistic);
  Value* one = constant(node, "one", Constant::scalar<float>(1));
  Value* first = rest ? emit(node, "Sub", {one, result}) : emit(node, "Neg", {result});
  Value* both = beside(node, first, result);
  if (logistic) both = emit(node, "Sigmoid", {both});
  return {best, probit ? transformed(node, both, DataType::kFloat, 2, transform) : both};
}

void finish_ensemble(Node& node, const std::vector<Value*>& results) {
  node.tensors.clear();
  become_results(node, results);
}

}  // namespace

void tree_ensemble_regressor(Node& node) {
  require_input(node, 0, "X");
  ListReader reader(node, "target");
  Forest forest = reader.read();
  forest.targets = node.integer("n_targets", most_targets(forest));
  require_aggregate(node, forest);
  require_targets(node, forest, "target_ids");
  bool precise = reader.precise();
  const std::vector<double> base = numbers(node, "base_values", precise);
  const std::string transform = post_transform(node);
  ForestScores scores = emit_forest(node, node.input(0), forest, precise);
  if (node.text("aggregate_function", "SUM") == "AVERAGE") {
    scores = divided(node, scores, forest.roots.size());
  }
  if (!base.empty()) {
    require_size(node, "base_values", base.size(), static_cast<size_t>(forest.targets));
    scores = plus(node, scores, base);
  }
  Value* result = as_type(node, scores.value, DataType::kFloat);
  finish_ensemble(node, {transformed(node, result, DataType::kFloat, forest.targets, transform)});
}

/// Where leaves vote for several labels the best of the sums is the label. (ONNX Runtime does not
/// choose classes that no leaf has voted for, and of two labels takes the second one whenever its
/// sum is positive; ONNX's reference and scikit-learn choose the largest sum.)
void tree_ensemble_classifier(Node& node) {
  require_input(node, 0, "X");
  ListReader reader(node, "class");
  Forest forest = reader.read();
  Constant labels = class_labels(node, "classlabels_strings", "classlabels_int64s");
  forest.targets = labels.count();
  require_targets(node, forest, "class_ids");
  bool precise = reader.precise();
  std::vector<double> base = numbers(node, "base_values", precise);
  if (base.size() != 1 || forest.targets > 2) {
    const bool any = !base.empty();
    if (any) require_size(node, "base_values", base.size(), static_cast<size_t>(forest.targets));
  }
  const std::string transform = post_transform(node);
  const int64_t voted = forest.votes[0].target;
  const bool binary =
      forest.targets == 2 && std::all_of(forest.votes.begin(), forest.votes.end(),
                                         [&](const Vote& vote) { return vote.target == voted; });
  if (binary) {
    const std::vector<Value*> made =
        binary_classes(node, std::move(forest), precise, base, transform);
    finish_ensemble(node, {labels_at(node, std::move(labels), made[0]), made[1]});
    return;
  }
  const int64_t classes = forest.targets;
  ForestScores scores = emit_forest(node, node.input(0), forest, precise);
  base.resize(base.empty() ? 0 : static_cast<size_t>(classes));
  if (!base.empty()) scores = plus(node, scores, base);
  Value* best =
      classes == 1 ? above(node, scores.value, scores.type, 0) : best_column(node, scores.value);
  if (classes == 1) labels = yes_and_no(labels.type);
  Value* result = as_type(node, scores.value, DataType::kFloat);
  finish_ensemble(node, {labels_at(node, std::move(labels), best),
                         transformed(node, result, DataType::kFloat, classes, transform)});
}

}  // namespace intarsia::converter::version_steps
