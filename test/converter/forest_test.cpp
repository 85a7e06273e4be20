// SPDX-License-Identifier: Apache-2.0
//
// Where the nodes of a tree lie: a walk is to come to few lines of the cache.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/operators/ml/tree_ensemble.h"
#include "test/converter/inferred_model.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// A full tree of `depth` comparisons, whose leaves vote for one target.
OnnxBuilder full_tree(int depth) {
  const int64_t inner = (int64_t{1} << depth) - 1, count = 2 * inner + 1;
  std::vector<int64_t> trees(static_cast<size_t>(count), 0), places, features, first, second,
      leaves;
  std::vector<float> values, weights;
  OnnxBuilder model(21);
  model.import_opset("ai.onnx.ml", 3);
  model.input("x", {1, 3});
  model.output("y");
  auto& node = model.node("TreeEnsembleRegressor", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  auto& modes = OnnxBuilder::attribute(node, "nodes_modes", onnx::AttributeProto::STRINGS);
  for (int64_t i = 0; i < count; ++i) {
    const bool leaf = i >= inner;
    places.push_back(i);
    features.push_back(i % 3);
    values.push_back(static_cast<float>(i % 7) - 3);
    first.push_back(leaf ? 0 : 2 * i + 1);
    second.push_back(leaf ? 0 : 2 * i + 2);
    modes.add_strings(leaf ? "LEAF" : "BRANCH_LEQ");
    if (!leaf) continue;
    leaves.push_back(i);
    weights.push_back(static_cast<float>(i));
  }
  const std::vector<int64_t> zeros(leaves.size(), 0);
  OnnxBuilder::set(node, "nodes_treeids", trees);
  OnnxBuilder::set(node, "nodes_nodeids", places);
  OnnxBuilder::set(node, "nodes_featureids", features);
  OnnxBuilder::set(node, "nodes_values", values);
  OnnxBuilder::set(node, "nodes_truenodeids", first);
  OnnxBuilder::set(node, "nodes_falsenodeids", second);
  OnnxBuilder::set(node, "target_treeids", zeros);
  OnnxBuilder::set(node, "target_nodeids", leaves);
  OnnxBuilder::set(node, "target_ids", zeros);
  OnnxBuilder::set(node, "target_weights", weights);
  OnnxBuilder::set(node, "n_targets", int64_t{1});
  return model;
}

/// In the order of their depths, the nodes of each step from the fourth on lie in another line: 7
/// lines for 8 comparisons.
TEST(Forest, WalksComeToFewLines) {
  constexpr int kDepth = 8;
  InferredModel model(full_tree(kDepth));
  const converter::Node* ensemble = nullptr;
  for (const auto& node : model.graph().nodes()) {
    if (node->op->name == "TreeEnsemble") ensemble = node.get();
  }
  ASSERT_NE(ensemble, nullptr);
  TreeEnsembleAttributes attributes;
  std::memcpy(&attributes, ensemble->attribute_bytes.data(), sizeof(attributes));
  using Own = TreeNode<float>;
  const auto* nodes = reinterpret_cast<const Own*>(ensemble->inputs[1]->constant->data.get());

  constexpr unsigned kLeaves = 1 << kDepth;
  std::set<size_t> reached;
  size_t lines = 0;
  for (unsigned way = 0; way < kLeaves; ++way) {
    std::set<size_t> own;
    size_t place = 1;
    for (int step = 0; step < kDepth; ++step) {
      own.insert(place * sizeof(Own) / 64);
      const size_t child = nodes[place].way >> (Own::kWayBits - attributes.child_bits);
      place = child + ((way >> step) & 1);
    }
    own.insert(place * sizeof(Own) / 64);
    lines += own.size();
    reached.insert(place);
  }
  EXPECT_EQ(reached.size(), kLeaves);
  EXPECT_LE(lines, 4 * kLeaves);
}

}  // namespace
}  // namespace intarsia::test
