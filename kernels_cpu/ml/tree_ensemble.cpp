// SPDX-License-Identifier: Apache-2.0
//
// TreeEnsemble: what the leaves that a row reaches vote for each target: summed up, or the least or
// largest of it.
//
// A step takes the first child where x <= threshold, else the second, without a branch: which child
// comes next cannot be foretold. So that one walk need not wait for its memory, a row goes through
// kWalkedTrees trees at a time (tree_walk.h), and after it the other rows of its block, which find
// much of these trees in the cache; where there are few trees, several rows go through each. A walk
// has as many steps as its tree is deep; leaves lead to themselves.
//
// Sums are in double. Blocks of rows are cut by shape and computed on the caller's threads; where
// there are few rows, blocks of trees are, whose sums are added in their order.
//
// What nodes say is not checked one by one: their bits cannot name a child or a feature beyond the
// memory that `run` proves to be there, and places of votes are kept below their number. A row is
// copied where the features that bits can name reach beyond X: the last one.
// https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsemble.html
#include "core/operators/ml/tree_ensemble.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "intarsia/checked_int.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/ml/tree_walk.h"

namespace intarsia::cpu {
namespace {

using Attributes = TreeEnsembleAttributes;

/// Walks that are gone through without vectors at a time.
constexpr int kLanes = 16;
/// Rows, fewer of which leave threads to share the trees.
constexpr int64_t kFewRows = 8;
/// Sums of a block of trees that wait beside it.
constexpr int64_t kNearSums = 64;
constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlockTrees = 256;

/// What the nodes are to the walks.
template <class T>
struct Forest {
  using Node = TreeNode<T>;
  using Way = typename Node::Way;

  explicit Forest(const KernelContext& context)
      : a(context.attributes<Attributes>()),
        nodes(context.input(1).as<const Node>()),
        trees(context.input(2).as<const TreeRecord>()),
        weights(context.input(3).as<const T>()),
        targets(a.votes == 0 ? context.input(4).as<const int32_t>() : nullptr),
        last_vote(context.input(3).extents[0] - std::max<int32_t>(a.votes, 1)),
        feature_bits(a.feature_bits()),
        child_shift(Node::kWayBits - a.child_bits),
        on_avx2(vector_isa(context.isa()) == Isa::kAvx2 ||
                vector_isa(context.isa()) == Isa::kAvx512) {}

  const Attributes& a;
  const Node* nodes;
  const TreeRecord* trees;
  const T* weights;
  const int32_t* targets;
  int64_t last_vote;
  int feature_bits, child_shift;
  bool on_avx2;

  double start() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return a.aggregate == Attributes::kSum   ? 0
           : a.aggregate == Attributes::kMin ? kInfinity
                                             : -kInfinity;
  }
  void join(double& sum, double vote) const {
    if (a.aggregate == Attributes::kSum) {
      sum += vote;
    } else if (a.aggregate == Attributes::kMin ? vote < sum : vote > sum) {
      sum = vote;
    }
  }
  /// Adds what a leaf votes for to the sums of a row.
  void add(const TreeRecord& tree, uint32_t leaf, double* sums) const {
    const Way bits = std::bit_cast<Way>(nodes[leaf].threshold);
    int64_t vote = std::min(tree.vote + static_cast<int64_t>(bits & Node::kVoteMask), last_vote);
    if (a.votes == 1) return join(sums[tree.target], weights[vote]);
    if (targets == nullptr) {
      for (int32_t i = 0; i < a.votes; ++i) join(sums[tree.target + i], weights[vote + i]);
      return;
    }
    // The last vote of a leaf has the sign bit.
    for (bool more = true; more && vote <= last_vote; ++vote) {
      const int32_t target = targets[vote] & INT32_MAX;
      more = targets[vote] >= 0;
      join(sums[std::min(target, a.targets - 1)], weights[vote]);
    }
  }

  /// kLanes walks without vectors: tree(lane) is where the lane's tree begins, row(lane) what it
  /// compares.
  template <bool Missing, class Tree, class Row>
  void walk(int32_t depth, const Tree& tree, const Row& row, uint32_t* leaves) const {
    const Way features = (Way{1} << feature_bits) - 1;
    uint32_t places[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) places[lane] = tree(lane) + 1;
    for (int32_t left = depth; left > 0; left -= kWalkedSteps) {
      for (int32_t step = std::min<int32_t>(left, kWalkedSteps); step > 0; --step) {
        for (int lane = 0; lane < kLanes; ++lane) {
          const Node& node = nodes[places[lane]];
          const T x = row(lane)[node.way & features];
          bool second = !(x <= node.threshold);
          if constexpr (Missing) second &= !((x != x) & ((node.way >> feature_bits) & 1));
          places[lane] = tree(lane) + static_cast<uint32_t>(node.way >> child_shift) + second;
        }
      }
      if (left <= kWalkedSteps) break;
      uint32_t moves = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        const Way way = nodes[places[lane]].way;
        moves |= (tree(lane) + static_cast<uint32_t>(way >> child_shift) + 1) ^ places[lane];
      }
      if (moves == 0) break;
    }
    std::copy_n(places, kLanes, leaves);
  }
  template <class Tree, class Row>
  void walk(int32_t depth, const Tree& tree, const Row& row, uint32_t* leaves) const {
    a.missing != 0 ? walk<true>(depth, tree, row, leaves) : walk<false>(depth, tree, row, leaves);
  }

  /// The leaves that a row reaches in `count` trees, at most kWalkedTrees, as places among all
  /// nodes; there is room for all that are walked through at a time.
  void find_leaves(const uint32_t* begins, int64_t count, int32_t depth, const T* row,
                   uint32_t* leaves) const {
#if INTARSIA_WITH_AVX2
    if constexpr (std::is_same_v<T, float>) {
      if (on_avx2) {
        return TreeWalk<Isa::kAvx2>::walk({nodes, feature_bits, child_shift, a.missing != 0, begins,
                                           static_cast<int>(count), depth},
                                          row, leaves);
      }
    }
#endif
    for (int64_t first = 0; first < count; first += kLanes) {
      walk(
          depth, [=](int lane) { return begins[first + lane]; }, [=](int) { return row; },
          leaves + first);
    }
  }

  /// Adds what a few trees from `t` on say of kLanes rows.
  template <class Row>
  void add_few_trees(const Row& row, int64_t t, int64_t count, double* sums) const {
    const T* rows[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) rows[lane] = row(lane);
    for (const int64_t end = t + count; t < end; ++t) {
      uint32_t leaves[kLanes];
      walk(
          trees[t].depth, [base = static_cast<uint32_t>(trees[t].base)](int) { return base; },
          [&rows](int lane) { return rows[lane]; }, leaves);
      for (int lane = 0; lane < kLanes; ++lane) {
        add(trees[t], leaves[lane], sums + lane * a.targets);
      }
    }
  }

  /// Adds what trees [first, last) say of `count` rows to sums[count][targets].
  template <class Row>
  void add_rows(const Row& row, int64_t count, int64_t first, int64_t last, double* sums) const {
    const int64_t few = on_avx2 && sizeof(T) == 4 ? kWalkedTogether : kLanes;
    for (int64_t t = first; t < last; t += kWalkedTrees) {
      const int64_t here = std::min<int64_t>(kWalkedTrees, last - t);
      int64_t i = 0;
      for (; here < few && i + kLanes <= count; i += kLanes) {
        const auto each = [&row, i](int lane) { return row(i + lane); };
        add_few_trees(each, t, here, sums + i * a.targets);
      }
      if (i == count) continue;
      // The last tree stands for those that are not there.
      alignas(32) uint32_t begins[kWalkedTrees], leaves[kWalkedTrees];
      int32_t depth = 0;
      for (int64_t lane = 0; lane < kWalkedTrees; ++lane) {
        const TreeRecord& tree = trees[t + std::min(lane, here - 1)];
        begins[lane] = static_cast<uint32_t>(tree.base);
        depth = std::max(depth, tree.depth);
      }
      for (; i < count; ++i) {
        find_leaves(begins, here, depth, row(i), leaves);
        double* own = sums + i * a.targets;
        for (int64_t lane = 0; lane < here; ++lane) add(trees[t + lane], leaves[lane], own);
      }
    }
  }
};

template <class T>
struct TreeEnsemble {
  static constexpr KernelId id{"intarsia:TreeEnsemble", "", {data_type_of<T>}};

  /// The last row, and sums: of a block for each thread, or of kFewRows rows for each block of
  /// trees.
  static int64_t workspace(const KernelContext& context) {
    const auto& a = context.attributes<Attributes>();
    const CheckedInt per_row = CheckedInt(a.targets) * CheckedInt(int64_t{sizeof(double)});
    const CheckedInt threads = CheckedInt(context.threads()) * CheckedInt(block_rows(a));
    const CheckedInt trees = tree_blocks(context.input(2)) * kFewRows;
    const CheckedInt sums = per_row * (trees.value() > threads.value() ? trees : threads);
    return (CheckedInt(row_bytes(a)) + sums).value();
  }
  static Status check(const KernelContext& context) {
    constexpr DataType kType = data_type_of<T>;
    Status status = check_operands<ops::TreeEnsemble>(
        context, {.inputs = {kType, DataType::kUint64, DataType::kInt32, kType, DataType::kInt32},
                  .required_inputs = 4,
                  .outputs = {kType}});
    return status.ok() ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
    const TensorView &x = context.input(0), &y = context.output(0), &trees = context.input(2);
    const int64_t rows = y.extents[0], columns = x.extents[x.rank - 1];
    if (rows == 0) return {};
    const Forest<T> forest(context);
    if (Status status = check_trees(context, forest); !status) return status;
    const auto* first = x.as<const T>();
    const T* last = last_row(context, first + (rows - 1) * columns, columns);
    const auto row = [&](int64_t i) { return i == rows - 1 ? last : first + i * columns; };
    auto* sums = reinterpret_cast<double*>(context.workspace().data() + row_bytes(forest.a));
    const int64_t targets = forest.a.targets, number = trees.extents[0];
    auto* result = y.as<T>();
    const int64_t blocks = tree_blocks(trees);
    if (rows < kFewRows && blocks > 1) {
      const int64_t size = rows * targets;
      context.parallel_for(blocks, [&](int64_t begin, int64_t end, int) {
        double near[kNearSums];  // few sums would share lines with those of other threads
        for (int64_t block = begin; block < end; ++block) {
          double* const place = sums + block * size;
          double* const own = size <= kNearSums ? near : place;
          std::fill_n(own, size, forest.start());
          const int64_t from = block * kBlockTrees, to = std::min(from + kBlockTrees, number);
          forest.add_rows(row, rows, from, to, own);
          if (own != place) std::copy_n(own, size, place);
        }
      });
      for (int64_t i = size; i < blocks * size; ++i) forest.join(sums[i % size], sums[i]);
      store(forest, sums, size, result);
      return {};
    }
    // Some blocks for each of several threads; a row's sums do not depend on them.
    const int64_t threads = context.threads(), most = block_rows(forest.a);
    const int64_t height =
        threads > 1 ? std::min(most, (rows + 2 * threads - 1) / (2 * threads)) : most;
    const PerThread<double> memory(
        context.workspace().subspan(static_cast<size_t>(row_bytes(forest.a))), context.threads(),
        height * targets);
    context.parallel_for((rows + height - 1) / height, [&](int64_t begin, int64_t end, int thread) {
      double* own = memory[thread];
      for (int64_t block = begin; block < end; ++block) {
        const int64_t from = block * height, count = std::min(height, rows - from);
        std::fill_n(own, count * targets, forest.start());
        const auto own_row = [&](int64_t i) { return row(from + i); };
        forest.add_rows(own_row, count, 0, number, own);
        store(forest, own, count * targets, result + from * targets);
      }
    });
    return {};
  }

 private:
  /// Rows that are summed up together: fewer where each has many targets.
  static int64_t block_rows(const Attributes& a) {
    constexpr int64_t kBlockSums = 4096;
    return a.targets * kBlockRows <= kBlockSums ? kBlockRows : kFewRows;
  }
  static int64_t tree_blocks(const TensorView& trees) {
    return (int64_t{trees.extents[0]} + kBlockTrees - 1) / kBlockTrees;
  }
  static int64_t row_bytes(const Attributes& a) {
    const int64_t bytes = static_cast<int64_t>(sizeof(T)) << a.feature_bits();
    return (bytes + 63) / 64 * 64;
  }

  /// Proves that walks stay inside the nodes, and that the steps of a row are no more than these.
  static Status check_trees(const KernelContext& context, const Forest<T>& forest) {
    const int64_t count = context.input(1).extents[0], number = context.input(2).extents[0];
    const int64_t reach = int64_t{1} << forest.a.child_bits;
    const int32_t most = forest.a.targets - forest.a.votes;
    int64_t steps = 0;
    int32_t signs = 0, base = 0, target = 0;
    for (int64_t t = 0; t < number; ++t) {
      const TreeRecord& tree = forest.trees[t];
      signs |= tree.base | tree.depth | tree.vote | tree.target;
      base = std::max(base, tree.base);
      target = std::max(target, tree.target);
      steps += tree.depth;
    }
    if (signs < 0) {
      return context.fail(Code::kInvalidValue, "number of a tree below 0", 0, -1, 2);
    }
    if (number > 0 && base >= count - reach) {
      return context.fail(Code::kIndexOutOfRange, "first node of a tree", count - reach, base, 2);
    }
    if (target > most) {
      return context.fail(Code::kIndexOutOfRange, "target of a tree", most, target, 2);
    }
    if (steps > count) {
      return context.fail(Code::kInvalidValue, "steps through trees", count, steps, 2);
    }
    return {};
  }
  /// The row, or a copy that is as long as features can be.
  static const T* last_row(const KernelContext& context, const T* row, int64_t columns) {
    const int64_t length = int64_t{1} << context.attributes<Attributes>().feature_bits();
    if (length <= columns) return row;
    auto* copy = reinterpret_cast<T*>(context.workspace().data());
    std::copy_n(row, columns, copy);
    std::fill(copy + columns, copy + length, T{0});
    return copy;
  }
  /// What nobody voted for is 0, not infinite.
  static void store(const Forest<T>& forest, const double* sums, int64_t count, T* y) {
    const double start = forest.start();
    for (int64_t i = 0; i < count; ++i) y[i] = sums[i] == start ? T{0} : static_cast<T>(sums[i]);
  }
};

}  // namespace

extern const KernelList tree_ensemble_kernels;
constinit const KernelList tree_ensemble_kernels =
    kernel_list<Each<TreeEnsemble, Types<float, double>>>();

}  // namespace intarsia::cpu
