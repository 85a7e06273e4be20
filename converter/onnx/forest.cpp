// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "converter/onnx/score_steps.h"
#include "core/operators/ml/tree_ensemble.h"

namespace intarsia::converter {
namespace {

using namespace version_steps;

/// Extents of tensors are no more.
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

bool is_set(SourceNode::Mode mode) {
  return mode == SourceNode::kEq || mode == SourceNode::kNeq || mode == SourceNode::kMember;
}

/// Steps of the search among `count` members.
int32_t search_steps(int64_t count) {
  return std::bit_width(static_cast<uint64_t>(count)) + 1;
}

/// Nodes in a line of the cache, where trees begin.
template <class T>
constexpr size_t kLineNodes = 64 / sizeof(TreeNode<T>);

/// One tree as nodes of T, searches among members spelled out.
template <class T>
class Tree {
 public:
  /// A node whose bits are not put together yet.
  struct Record {
    T threshold = 0;
    bool leaf = false;
    bool missing = false;  ///< NaN goes to the first child.
    int32_t feature = 0;
    int32_t next = 0;  ///< The first child; of a leaf the place of its source node.
  };

  /// `pairs` tells where the children of source nodes lie; -1: nowhere yet.
  Tree(const Forest& forest, int64_t root, std::vector<int32_t>& pairs)
      : forest_(forest), pairs_(pairs), records_(2), items_(2) {
    items_[1].node = root;
    std::vector<size_t> open = {1};
    while (!open.empty()) place_line(open);
    items_ = {};
  }
  const std::vector<Record>& records() const { return records_; }

 private:
  /// What a record stands for: a source node, or a step of the search among members [low, high) of
  /// one; `bounded`: x is known not to be above the last of them.
  struct Item {
    int64_t node = -1;
    bool inner = false;
    bool bounded = false;
    int64_t low = 0, high = 0;
  };

  static T below(T value) {
    constexpr T kLeast = -std::numeric_limits<T>::infinity();
    // Nothing lies below the least number, as nothing is below NaN.
    return value == kLeast ? std::numeric_limits<T>::quiet_NaN() : std::nextafter(value, kLeast);
  }

  /// Makes one of the open records, and of those below it as many as the line of the cache has room
  /// for: a walk comes to one line in two or three steps, and needs a new one in each if records
  /// lie in the order of their depths. Whose children found no room is open.
  void place_line(std::vector<size_t>& open) {
    std::vector<size_t> near = {take(open)};
    size_t made = 0;
    do {
      const size_t begin = records_.size();
      make(near[made++]);
      for (size_t i = begin; i < records_.size(); ++i) near.push_back(i);
    } while (made < near.size() && records_.size() % kLineNodes<T> != 0);
    open.insert(open.end(), near.rbegin(), near.rend() - static_cast<ptrdiff_t>(made));
  }

  /// The last open record whose children and theirs have room in the line; if none of the last has,
  /// the last one, and the next line begins.
  size_t take(std::vector<size_t>& open) {
    constexpr size_t kLooks = 16;
    const size_t room = kLineNodes<T> - records_.size() % kLineNodes<T>;
    const auto fits = [&](size_t place) { return wanted(place) <= room; };
    const auto end = open.rbegin() + static_cast<ptrdiff_t>(std::min(open.size(), kLooks));
    auto chosen = std::find_if(open.rbegin(), end, fits);
    if (chosen == end) {
      chosen = open.rbegin();
      items_.resize(items_.size() + room);
      records_.resize(items_.size());
    }
    const size_t place = *chosen;
    open.erase(std::next(chosen).base());
    return place;
  }

  /// Records that a line should have room for: a record's children and theirs.
  size_t wanted(size_t place) const {
    const Item& item = items_[place];
    const SourceNode& source = forest_.nodes[static_cast<size_t>(item.node)];
    if (source.mode == SourceNode::kLeaf) return 0;
    size_t pairs = 3;
    if (!is_set(source.mode)) {
      if (pairs_[static_cast<size_t>(item.node)] >= 0) return 0;
      const auto pair_below = [&](int64_t node) {
        return forest_.nodes[static_cast<size_t>(node)].mode == SourceNode::kLeaf ? 0 : 1;
      };
      pairs = static_cast<size_t>(1 + pair_below(source.yes) + pair_below(source.no));
    }
    return std::min(2 * pairs, kLineNodes<T>);
  }

  void make(size_t place) {
    const Item item = items_[place];
    const SourceNode& source = forest_.nodes[static_cast<size_t>(item.node)];
    if (source.mode == SourceNode::kLeaf) {
      records_[place].leaf = true;
      records_[place].next = static_cast<int32_t>(item.node);
      return;
    }
    Record record;
    record.feature = static_cast<int32_t>(source.feature);
    Item first, second;
    if (is_set(source.mode)) {
      search(source, item, record, first, second);
    } else {
      compare(source, record, first, second);
    }
    // What is missed by a search stands in several places, and has its children once.
    int32_t& pair = pairs_[static_cast<size_t>(item.node)];
    record.next = static_cast<int32_t>(items_.size());
    if (!item.inner && pair >= 0) {
      record.next = pair;
    } else {
      if (!item.inner) pair = record.next;
      items_.push_back(first);
      items_.push_back(second);
      records_.resize(items_.size());
    }
    records_[place] = record;
  }

  static void compare(const SourceNode& source, Record& record, Item& first, Item& second) {
    const bool less = source.mode == SourceNode::kLeq || source.mode == SourceNode::kLt;
    const bool strict = source.mode == SourceNode::kLt || source.mode == SourceNode::kGte;
    const T value = static_cast<T>(source.value);
    first.node = less ? source.yes : source.no;
    second.node = less ? source.no : source.yes;
    record.missing = less ? source.missing_tracks_true : !source.missing_tracks_true;
    record.threshold = strict ? below(value) : value;
    // No comparison with NaN holds: where branches are exchanged, all have to go to the first.
    if (!less && std::isnan(value)) record.threshold = std::numeric_limits<T>::infinity();
  }

  void search(const SourceNode& source, const Item& item, Record& record, Item& first,
              Item& second) const {
    // NaN differs from all members: where that is what is asked for, it needs no tracking.
    const bool differs = source.mode == SourceNode::kNeq;
    const bool tracks = source.missing_tracks_true && !differs;
    const int64_t found = differs ? source.no : source.yes;
    const int64_t missed = differs ? source.yes : source.no;
    const int64_t low = item.inner ? item.low : source.first;
    const int64_t high = item.inner ? item.high : source.first + source.count;
    const auto member = [&](int64_t i) {
      return static_cast<T>(forest_.members[static_cast<size_t>(i)]);
    };
    if (low == high) {  // all but NaN are missed
      record.threshold = std::numeric_limits<T>::infinity();
      first.node = missed;
      second.node = tracks ? found : missed;
    } else if (low + 1 == high && item.bounded) {
      record.threshold = below(member(low));
      first.node = missed;
      second.node = found;
    } else {
      const int64_t middle = low + (high - low - 1) / 2;
      record.threshold = member(middle);
      record.missing = tracks;
      first = {item.node, true, true, low, middle + 1};
      if (middle + 1 == high) {
        second.node = missed;
      } else {
        second = {item.node, true, item.bounded, middle + 1, high};
      }
    }
  }

  const Forest& forest_;
  std::vector<int32_t>& pairs_;
  std::vector<Record> records_;
  std::vector<Item> items_;
};

/// Proves that every walk from a root ends at a leaf, and tells what has to be known of all trees.
/// Branches may meet again, as LightGBM's do, of which a split by categories is a chain of
/// comparisons with one branch in common; but two trees have no node in common.
class Survey {
 public:
  Survey(const Node& node, const Forest& forest)
      : node_(node), forest_(forest), marks_(forest.nodes.size()) {
    for (const int64_t root : forest.roots) walk(root);
  }
  int32_t features() const { return features_; }
  /// The steps to the deepest leaf of tree `index`.
  int32_t depth(size_t index) const { return depths_[index]; }

 private:
  static constexpr int64_t kNew = -1, kOpen = -2;
  struct Mark {
    int64_t height = kNew;  // the steps to the deepest leaf below
    size_t tree = 0;
  };

  const SourceNode& source(int64_t node) const { return forest_.nodes[static_cast<size_t>(node)]; }
  Mark& mark(int64_t node) { return marks_[static_cast<size_t>(node)]; }
  int64_t height(int64_t node) {
    return source(node).mode == SourceNode::kLeaf ? 0 : mark(node).height;
  }
  [[noreturn]] void fail(int64_t node, const std::string& what, const char* hint) const {
    throw Error(node_.problem("node " + std::to_string(node) + " of its trees " + what, hint));
  }

  void walk(int64_t root) {
    std::vector<int64_t> open;
    visit(root, open);
    while (!open.empty()) {
      const int64_t at = open.back();
      const SourceNode& node = source(at);
      Mark& own = mark(at);
      if (own.height == kNew) {
        own = {kOpen, depths_.size()};
        if (node.feature < 0 || node.feature >= kMost) {
          fail(at, "compares feature " + std::to_string(node.feature),
               "a feature is the number of a column of X, counted from 0");
        }
        features_ = std::max(features_, static_cast<int32_t>(node.feature) + 1);
        visit(node.yes, open);
        visit(node.no, open);
        continue;
      }
      open.pop_back();
      if (own.height != kOpen) continue;  // another way has come here in the meantime
      const int64_t steps = is_set(node.mode) ? search_steps(node.count) : 1;
      own.height = std::min(kMost, steps + std::max(height(node.yes), height(node.no)));
    }
    depths_.push_back(static_cast<int32_t>(std::max<int64_t>(1, height(root))));
  }
  void visit(int64_t node, std::vector<int64_t>& open) {
    if (source(node).mode == SourceNode::kLeaf) return;
    const Mark& found = mark(node);
    if (found.height == kOpen) {
      fail(node, "can be reached from itself", "a walk through a tree ends at a leaf");
    }
    if (found.height == kNew) {
      open.push_back(node);
    } else if (found.tree != depths_.size()) {
      fail(node, "belongs to two trees", "a tree has nodes of its own");
    }
  }

  const Node& node_;
  const Forest& forest_;
  std::vector<Mark> marks_;
  int32_t features_ = 1;
  std::vector<int32_t> depths_;
};

/// The constants of a TreeEnsemble whose comparisons are of T.
template <class T>
class Packed {
 public:
  using Own = TreeNode<T>;
  using Way = typename Own::Way;

  Packed(const Node& node, const Forest& forest, const Survey& survey) : forest_(forest) {
    std::vector<int32_t> pairs(forest.nodes.size(), -1);
    size_t largest = 2, total = 0;
    for (const int64_t root : forest.roots) {
      const Tree<T>& tree = trees_.emplace_back(forest, root, pairs);
      largest = std::max(largest, tree.records().size());
      total += tree.records().size() + kLineNodes<T>;
    }
    attributes_.features = survey.features();
    attributes_.child_bits = std::bit_width(largest - 1);
    const size_t reach = size_t{1} << attributes_.child_bits;
    if (total + reach > static_cast<size_t>(kMost)) {
      throw Error(node.problem("has " + std::to_string(total) + " nodes in its trees",
                               "expected at most " + std::to_string(kMost)));
    }
    attributes_.targets = static_cast<int32_t>(forest.targets);
    find_votes();
    nodes_.reserve(total + reach);
    for (size_t i = 0; i < trees_.size(); ++i) add(i, survey.depth(i));
    // As far as the bits of a child can reach from the last tree.
    if (!records_.empty()) nodes_.resize(static_cast<size_t>(records_.back().base) + reach + 1);
  }

  /// False if a tree is too large for what a node has room for.
  bool fits() const {
    return fits_ && attributes_.feature_bits() + 1 + attributes_.child_bits <= Own::kWayBits;
  }

  Value* emit(Node& node, Value* x) const {
    constexpr auto kWords = static_cast<int64_t>(sizeof(Own) / sizeof(uint64_t));
    const auto count = static_cast<int64_t>(forest_.votes.size());
    std::vector<double> weights;
    std::vector<int32_t> targets;
    for (const Vote& vote : forest_.votes) {
      weights.push_back(vote.weight);
      targets.push_back(static_cast<int32_t>(vote.target));
    }
    for (const SourceNode& leaf : forest_.nodes) {
      if (leaf.mode != SourceNode::kLeaf || leaf.count == 0) continue;
      targets[static_cast<size_t>(leaf.first + leaf.count - 1)] |= INT32_MIN;
    }
    const std::span<const uint64_t> words{reinterpret_cast<const uint64_t*>(nodes_.data()),
                                          nodes_.size() * sizeof(Own) / sizeof(uint64_t)};
    const std::span<const int32_t> numbers{reinterpret_cast<const int32_t*>(records_.data()),
                                           4 * records_.size()};
    std::vector<Value*> inputs = {
        x,
        constant(node, "nodes",
                 Constant::of<uint64_t>({static_cast<int64_t>(nodes_.size()), kWords}, words)),
        constant(node, "trees",
                 Constant::of<int32_t>({static_cast<int64_t>(records_.size()), 4}, numbers)),
        reals(node, "weights", data_type_of<T>, weights, {count})};
    if (attributes_.votes == 0) {
      inputs.push_back(constant(node, "targets", Constant::of<int32_t>({count}, targets)));
    }
    return emit_own(node, "TreeEnsemble", std::move(inputs),
                    {{"features", int64_t{attributes_.features}},
                     {"child_bits", int64_t{attributes_.child_bits}},
                     {"targets", int64_t{attributes_.targets}},
                     {"votes", int64_t{attributes_.votes}},
                     {"aggregate", forest_.aggregate},
                     {"missing", int64_t{attributes_.missing}}});
  }

 private:
  template <class Visit>
  void each_leaf(const Tree<T>& tree, const Visit& visit) const {
    for (const auto& record : tree.records()) {
      if (record.leaf) visit(forest_.nodes[static_cast<size_t>(record.next)]);
    }
  }

  /// Where the leaves of all trees vote as often, each for neighbouring targets, and those of a
  /// tree for the same, votes need not name their targets.
  void find_votes() {
    int64_t count = -1;
    bool alike = true;
    for (const Tree<T>& tree : trees_) {
      int64_t first = -1;
      each_leaf(tree, [&](const SourceNode& leaf) {
        const Vote* votes = &forest_.votes[static_cast<size_t>(leaf.first)];
        if (count < 0) count = leaf.count;
        if (first < 0) first = votes->target;
        alike = alike && leaf.count == count && votes->target == first;
        for (int64_t i = 1; i < leaf.count; ++i) {
          alike = alike && votes[i].target == votes[i - 1].target + 1;
        }
      });
    }
    attributes_.votes = alike && count > 0 ? static_cast<int32_t>(count) : 0;
  }

  void add(size_t index, int32_t depth) {
    const std::vector<typename Tree<T>::Record>& tree = trees_[index].records();
    nodes_.resize((nodes_.size() + kLineNodes<T> - 1) / kLineNodes<T> * kLineNodes<T>);
    int64_t vote = kMost, target = 0;
    each_leaf(trees_[index], [&](const SourceNode& leaf) {
      vote = std::min(vote, leaf.first);
      if (attributes_.votes > 0) target = forest_.votes[static_cast<size_t>(leaf.first)].target;
    });
    records_.push_back({static_cast<int32_t>(nodes_.size()), depth, static_cast<int32_t>(vote),
                        static_cast<int32_t>(target)});
    nodes_.push_back({});
    const int shift = Own::kWayBits - attributes_.child_bits;
    for (size_t i = 1; i < tree.size(); ++i) {
      if (!tree[i].leaf) {
        const Way missing = tree[i].missing ? Way{1} << attributes_.feature_bits() : 0;
        attributes_.missing |= tree[i].missing ? 1 : 0;
        nodes_.push_back({tree[i].threshold, static_cast<Way>(tree[i].feature) | missing |
                                                 static_cast<Way>(tree[i].next) << shift});
        continue;
      }
      const int64_t votes = forest_.nodes[static_cast<size_t>(tree[i].next)].first - vote;
      fits_ = fits_ && static_cast<uint64_t>(votes) <= Own::kVoteMask;
      nodes_.push_back({std::bit_cast<T>(Own::kLeafBits | static_cast<Way>(votes)),
                        static_cast<Way>(i - 1) << shift});
    }
  }

  const Forest& forest_;
  TreeEnsembleAttributes attributes_;
  std::vector<Tree<T>> trees_;
  std::vector<Own> nodes_;
  std::vector<TreeRecord> records_;
  bool fits_ = true;
};

}  // namespace

ForestScores emit_forest(Node& node, Value* x, const Forest& forest, bool precise) {
  if (forest.targets < 1 || forest.targets >= kMost) {
    throw Error(
        node.problem("has " + std::to_string(forest.targets) + " targets", "expected at least 1"));
  }
  const auto most = static_cast<size_t>(kMost);
  if (forest.nodes.size() >= most || forest.votes.size() >= most || forest.votes.empty()) {
    throw Error(node.problem("has " + std::to_string(forest.nodes.size()) + " nodes and " +
                             std::to_string(forest.votes.size()) + " weights of leaves"));
  }
  const Survey survey(node, forest);
  if (!precise && type_of(*x) != DataType::kDouble) {
    const Packed<float> packed(node, forest, survey);
    if (packed.fits()) {
      return {packed.emit(node, as_type(node, x, DataType::kFloat)), DataType::kFloat};
    }
  }
  const Packed<double> packed(node, forest, survey);
  return {packed.emit(node, as_type(node, x, DataType::kDouble)), DataType::kDouble};
}

}  // namespace intarsia::converter
