// SPDX-License-Identifier: Apache-2.0
#include "test/random/trees.h"

#include <bit>
#include <cstring>

#include "core/operators/ml/tree_ensemble.h"
#include "test/random/values.h"

namespace intarsia::test {
namespace {

constexpr size_t kNodes = 1, kTrees = 2;

/// Node i has the children 2 i and 2 i + 1, down to the leaves in the second half.
template <class T>
std::vector<std::byte> complete_tree(const TreeEnsembleAttributes& a, int64_t count,
                                     Random& random) {
  using Node = TreeNode<T>;
  using Way = typename Node::Way;
  const int64_t reach = int64_t{1} << a.child_bits;
  const auto way = [&](int64_t child, int64_t feature, bool missing) {
    return static_cast<Way>(child) << (Node::kWayBits - a.child_bits) |
           Way{missing} << a.feature_bits() | static_cast<Way>(feature);
  };
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(Node));
  for (int64_t i = 0; i < count; ++i) {
    Node node;
    if (i > 0 && i < reach / 2) {
      node.threshold = static_cast<T>(random.between(-8, 8)) / 8;
      node.way = way(2 * i, random.below(a.features), a.missing != 0 && random.chance(30));
    } else {  // its own second child
      node.threshold = std::bit_cast<T>(Node::kLeafBits | static_cast<Way>(random.below(6)));
      node.way = way(i > 0 && i < reach ? i - 1 : 0, 0, false);
    }
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof node, &node, sizeof node);
  }
  return bytes;
}

}  // namespace

bool describes_trees(const OperatorDefinition& op, size_t operand) {
  return op.domain == definitions::kInternalDomain && op.name == ops::TreeEnsemble::name &&
         (operand == kNodes || operand == kTrees);
}

std::vector<int64_t> tree_extents(size_t operand, Random& random) {
  if (operand == kNodes) return {random.pick<int64_t>({5, 40, 200, 200}), 1};
  return {random.pick<int64_t>({1, 3, 33, 40, 70}), 4};
}

std::optional<Constant> draw_trees(const Candidate& candidate, size_t operand, DataType type,
                                   const std::vector<int64_t>& extents, Random& random) {
  const auto& a = *reinterpret_cast<const TreeEnsembleAttributes*>(candidate.blob.data());
  constexpr int32_t kMostBits = 12;
  if (extents.size() != 2 || a.child_bits > kMostBits) return std::nullopt;
  if (operand == kNodes) {
    if (extents[1] != 1 && extents[1] != 2) return std::nullopt;
    return Constant::own(type, extents,
                         extents[1] == 1 ? complete_tree<float>(a, extents[0], random)
                                         : complete_tree<double>(a, extents[0], random));
  }
  if (extents[1] != 4) return std::nullopt;
  std::vector<int64_t> records;
  for (int64_t tree = 0; tree < extents[0]; ++tree) {
    records.insert(records.end(), {0, a.child_bits - 1, random.below(3),
                                   random.below(std::max(1, a.targets - a.votes + 1))});
  }
  return whole_numbers(type, extents, records);
}

}  // namespace intarsia::test
