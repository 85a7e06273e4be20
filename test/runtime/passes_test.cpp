// SPDX-License-Identifier: Apache-2.0
//
// The list of passes: every prefix makes a plan, and a pass that changes a result is named.
#include "converter/tool/output_check.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::ConvertOptions;
using converter::OnnxBuilder;
using converter::Pass;

/// A network that gives every pass something to do: a folded weight, a fused bias and activation, a
/// channels-last region, a view, results in place, branches to reorder.
OnnxBuilder network() {
  OnnxBuilder model;
  model.input("x", {1, 8, 6, 6});
  model.output("y");
  std::vector<float> weights(8 * 8 * 9), scale(8);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 9) / 8 - 0.5f;
  for (size_t i = 0; i < scale.size(); ++i) scale[i] = static_cast<float>(i + 1) / 8;
  model.floats("w", {8, 8, 3, 3}, weights);
  model.floats("s", {8, 1, 1}, scale);
  model.floats("half", {}, {0.5f});
  model.node("Mul", {"w", "half"}, {"w2"});
  auto& conv = model.node("Conv", {"x", "w2"}, {"c"});
  OnnxBuilder::set(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  model.node("Add", {"c", "s"}, {"d"});
  model.node("Relu", {"d"}, {"e"});
  auto& concat = model.node("Concat", {"e", "x"}, {"f"});
  OnnxBuilder::set(concat, "axis", int64_t{1});
  model.node("Sigmoid", {"f"}, {"g"});
  model.node("Flatten", {"g"}, {"h"});
  model.node("Neg", {"h"}, {"y"});
  return model;
}

tool::Outputs outputs_of(const OnnxBuilder& model, std::span<const Pass> passes) {
  ConvertOptions options;
  options.passes = passes;
  SmallPlan plan(model, options);
  Session session = plan.open().value();
  const auto x = session.input<float>(0).value();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) / 8 - 1;
  EXPECT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  const Port port = session.output_port(0).value();
  return {{std::string(port.name),
           tool::constant_of(port.tensor, [&session](StringRef s) { return session.string(s); })}};
}

tool::PassCheck check(const OnnxBuilder& model, std::span<const Pass> passes) {
  return tool::check_passes(
      passes, [&](std::span<const Pass> prefix) { return outputs_of(model, prefix); }, 1e-5);
}

TEST(Passes, EveryPrefixMakesAPlanThatComputesTheSame) {
  const std::span<const Pass> all = converter::optimisation_passes();
  const tool::Outputs expected = outputs_of(network(), {});
  for (size_t count = 1; count <= all.size(); ++count) {
    const auto rows = tool::compare_outputs(outputs_of(network(), all.first(count)), expected);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_TRUE(tool::agree(rows, 1e-5)) << all[count - 1].name;
  }
}

TEST(Passes, WithoutAnyTheModelIsExecutedAsImported) {
  ConvertOptions none;
  none.passes = {};
  SmallPlan imported(network(), none), optimised(network());
  EXPECT_EQ(tool::node_count(imported.plan()), 8u);
  EXPECT_LT(tool::node_count(optimised.plan()), 8u);
  EXPECT_GT(imported.conversion.plan.summary.arena_bytes,
            optimised.conversion.plan.summary.arena_bytes);
}

/// Lets a Concat join its inputs in the wrong order.
void swap_inputs(converter::Graph& graph, converter::Inference&, converter::PlanChoices&) {
  for (converter::Node* node : graph.node_list()) {
    if (!node->is("Concat")) continue;
    converter::Value* first = node->inputs[0];
    node->set_input(0, node->inputs[1]);
    node->set_input(1, first);
  }
}

TEST(Passes, ThePassThatChangesAResultIsNamed) {
  for (size_t at : {0u, 3u, 6u, 12u}) {
    const std::span<const Pass> all = converter::optimisation_passes();
    std::vector<Pass> passes(all.begin(), all.end());
    ASSERT_LE(at, passes.size());
    passes.insert(passes.begin() + static_cast<std::ptrdiff_t>(at), Pass{"planted", swap_inputs});
    const tool::PassCheck found = check(network(), passes);
    EXPECT_FALSE(found.agrees);
    ASSERT_NE(found.first, nullptr);
    EXPECT_EQ(found.first->name, "planted") << at;
  }
  EXPECT_TRUE(check(network(), converter::optimisation_passes()).agrees);
}

}  // namespace
}  // namespace intarsia::test
