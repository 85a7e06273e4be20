// SPDX-License-Identifier: Apache-2.0
//
// Graphs of many thousand nodes and uses, of a size that a search per step would take hours for.
#include <span>
#include <string>
#include <vector>

#include "converter/graph/graph.h"
#include "test/converter/onnx_builder.h"
#include "test/runtime/small_plan.h"

namespace intarsia::converter {
namespace {

TEST(GraphSize, UsesOfAValueAreFoundWithoutASearch) {
  constexpr int kUses = 1'000'000;
  Graph graph;
  Value* value = graph.add_input("x");
  Node* node = graph.add_node("", "Sum", "sum", {}, 1);
  graph.add_output(node->outputs[0]);
  for (int i = 0; i < kUses; ++i) node->set_input(i, value);
  for (int i = 0; i < kUses - 2; ++i) node->set_input(i, nullptr);
  EXPECT_EQ(value->uses.size(), 2U);
  EXPECT_EQ(graph.check(), "");
  Value* other = graph.add_input("y");
  Graph::replace_uses_if(value, other, [](const Use& use) { return use.index == kUses - 1; });
  EXPECT_EQ(node->inputs[kUses - 1], other);
  EXPECT_EQ(node->inputs[kUses - 2], value);
  EXPECT_EQ(graph.check(), "");
  graph.remove(node);
}

TEST(GraphSize, NodesAreRemovedWithoutASearch) {
  constexpr int kNodes = 300'000;
  Graph graph;
  Value* input = graph.add_input("x");
  for (int i = 0; i < kNodes; ++i) {
    graph.add_node("", "Neg", "neg", std::span<Value* const>(&input, 1), 1);
  }
  for (Node* node : graph.node_list()) graph.remove(node);
  EXPECT_EQ(graph.values().size(), 1U);
  EXPECT_TRUE(input->uses.empty());
}

TEST(GraphSize, ManyReadersOfOneValue) {
  for (const char* type : {"Neg", "Identity"}) {
    OnnxBuilder builder;
    builder.input("x", {4});
    for (int i = 0; i < 50'000; ++i) builder.node(type, {"x"}, {"v" + std::to_string(i)});
    builder.output("v7");
    EXPECT_EQ(test::conversion_error(builder), "") << type;
  }
}

/// A chain of `count` convolutions with the same weights of `channels` x `channels`, each followed
/// by a product, the factors of which `factor(i)` names, and by Relu.
template <class Factor>
OnnxBuilder chain_of_convolutions(int count, int64_t channels, const Factor& factor) {
  OnnxBuilder builder;
  builder.floats("w", {channels, channels, 1, 1},
                 std::vector<float>(static_cast<size_t>(channels * channels), 0.5F));
  builder.input("v0", {1, channels, 1, 1});
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    builder.node("Conv", {"v" + number, "w"}, {"c" + number});
    builder.node("Mul", {"c" + number, factor(builder, i)}, {"m" + number});
    builder.node("Relu", {"m" + number}, {"v" + std::to_string(i + 1)});
  }
  builder.output("v" + std::to_string(count));
  return builder;
}

// A pass that begins again behind each change takes minutes.
TEST(GraphSize, AChainIsFusedInOnePassAndSharesItsWeights) {
  constexpr int kNodes = 20'000;
  const OnnxBuilder builder =
      chain_of_convolutions(kNodes, 4, [](OnnxBuilder& model, int i) -> std::string {
        if (i == 0) model.floats("f", {4, 1, 1}, {1, 2, 3, 4});
        return "f";
      });
  test::SmallPlan plan(builder);
  EXPECT_EQ(plan_info(plan.plan())->node_count, static_cast<uint32_t>(kNodes));
  EXPECT_LT(plan.conversion.plan.summary.weights_bytes, 1024U);
}

TEST(GraphSize, CopiesOfSharedWeightsAreBounded) {
  constexpr int kNodes = 100;
  constexpr int64_t kChannels = 64;
  const OnnxBuilder builder =
      chain_of_convolutions(kNodes, kChannels, [](OnnxBuilder& model, int i) {
        const std::string name = "f" + std::to_string(i);
        model.floats(name, {kChannels, 1, 1},
                     std::vector<float>(kChannels, static_cast<float>(i + 1)));
        return name;
      });
  test::SmallPlan plan(builder);
  EXPECT_GT(plan_info(plan.plan())->node_count, static_cast<uint32_t>(kNodes))
      << "some products stay";
  const uint64_t constants = sizeof(float) * kChannels * (kChannels + kNodes);
  EXPECT_LT(plan.conversion.plan.summary.weights_bytes, 4 * constants);
}

}  // namespace
}  // namespace intarsia::converter
