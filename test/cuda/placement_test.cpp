// SPDX-License-Identifier: Apache-2.0
//
// Placement: what goes to the device, what stays and why, and how nodes are ordered.
#include <algorithm>

#include "core/runtime/session_state.h"
#include "test/cuda/cuda_plan.h"

namespace intarsia::test {
namespace {

std::string warnings_of(const CudaPlan& plan) {
  std::string text;
  for (const std::string& warning : plan.conversion.warnings) text += warning + "\n";
  return text;
}

OnnxBuilder chain(std::initializer_list<const char*> types) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  std::string from = "x";
  int number = 0;
  for (const char* type : types) {
    const std::string to =
        ++number == static_cast<int>(types.size()) ? "y" : "v" + std::to_string(number);
    model.node(type, {from.c_str()}, {to.c_str()});
    from = to;
  }
  model.output("y");
  return model;
}

TEST(CudaPlacement, ASupportedModelHasOneSegmentAndNoWarning) {
  const CudaPlan plan(chain({"Relu", "Exp", "Tanh"}));
  EXPECT_EQ(plan.summary().segments, 1u);
  EXPECT_EQ(warnings_of(plan), "");
  EXPECT_GT(plan.summary().device_arena_bytes, 0u);
}

TEST(CudaPlacement, NodesWithoutAKernelAreNamedWithTheReason) {
  const CudaPlan plan(
      chain({"Relu", "Hardmax", "Tanh", "LpNormalization", "LpNormalization", "Exp"}));
  EXPECT_EQ(plan.summary().segments, 3u);
  const std::string text = warnings_of(plan);
  EXPECT_NE(text.find("node 'Hardmax2' (Hardmax) runs on the CPU: no CUDA kernel for float"),
            std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(CudaPlacement, AModelWithoutAnyKernelIsAPlanForTheCpu) {
  const OnnxBuilder model = chain({"Hardmax", "LpNormalization"});
  const CudaPlan plan(model);
  EXPECT_EQ(plan.summary().segments, 0u);
  const SmallPlan cpu(model);
  EXPECT_EQ(plan.conversion.plan.bytes, cpu.conversion.plan.bytes);
}

TEST(CudaPlacement, AViewGoesWhereItsInputIs) {
  // Hardmax, a copy, Tanh, a copy: on the device the view would need two more.
  CudaPlan plan(chain({"Flatten", "Hardmax", "Tanh"}));
  PlanView view;
  ASSERT_TRUE(read_untrusted(plan.plan(), true, view, plan.diagnostic).ok());
  EXPECT_EQ(view.node_count, 4u);
}

TEST(CudaPlacement, VaryingExtentsStayOnTheHost) {
  OnnxBuilder model;
  symbol(model.input("x", {0, 3}), 0, "n");
  model.output("y");
  model.node("Relu", {"x"}, {"y"});
  ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, 4};
  const CudaPlan plan(model, options);
  EXPECT_EQ(plan.summary().segments, 0u);
  EXPECT_NE(warnings_of(plan).find("vary"), std::string::npos) << warnings_of(plan);
}

TEST(CudaPlacement, BranchesStayOnTheHostAndReadCopies) {
  OnnxBuilder model;
  model.input("condition", {}, DataType::kBool);
  model.input("x", {3});
  model.output("y");
  model.floats("one", {1}, {1});
  model.node("Exp", {"x"}, {"e"});
  auto& node = model.node("If", {"condition"}, {"b"});
  for (const char* attribute : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(attribute);
    OnnxBuilder::add_node(*graph.mutable_node(), attribute[0] == 't' ? "Add" : "Mul", {"e", "one"},
                          {attribute});
    graph.add_output()->set_name(attribute);
  }
  model.node("Neg", {"b"}, {"y"});
  emulation::Emulator::get().reset();
  CudaPlan plan(model);
  EXPECT_EQ(plan.summary().segments, 2u);
  EXPECT_NE(warnings_of(plan).find("(If) runs on the CPU: control flow runs on the CPU"),
            std::string::npos)
      << warnings_of(plan);
  auto session = plan.open_on_device();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const bool condition : {true, false}) {
    session->input<bool>(0).value()[0] = condition;
    session->input<float>(1).value()[2] = 0.5f;
    ASSERT_TRUE(session->run().ok());
    const float e = std::exp(0.5f);
    EXPECT_NEAR(session->output<float>(0).value()[2], condition ? -e - 1 : -e, 1e-5f);
  }
}

/// What a loop carries, captures and collects in a sequence is the host's; the device computes
/// before it and after it.
TEST(CudaPlacement, LoopsStayOnTheHostBetweenRunsOfTheDevice) {
  OnnxBuilder model;
  model.input("trips", {}, DataType::kInt64);
  model.input("x", {3});
  for (const char* name : {"y", "all"}) model.output(name);
  model.node("Exp", {"x"}, {"e"});
  model.node("SequenceConstruct", {"x"}, {"first"});
  auto& node = model.node("Loop", {"trips", "", "e", "first"}, {"last", "list"});
  auto& body = *OnnxBuilder::attribute(node, "body", onnx::AttributeProto::GRAPH).mutable_g();
  body.set_name("body");
  for (const char* name : {"i", "go", "old", "so_far"}) body.add_input()->set_name(name);
  for (const char* name : {"go", "new", "more"}) body.add_output()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "Add", {"old", "e"}, {"new"});
  OnnxBuilder::add_node(*body.mutable_node(), "SequenceInsert", {"so_far", "new"}, {"more"});
  OnnxBuilder::set(model.node("ConcatFromSequence", {"list"}, {"all"}), "axis", int64_t{0});
  model.node("Neg", {"last"}, {"y"});
  emulation::Emulator::get().reset();
  ConvertOptions options;
  options.max_trips[node.name()] = 4;
  CudaPlan plan(model, options);
  EXPECT_EQ(plan.summary().segments, 2u);
  EXPECT_NE(warnings_of(plan).find("(Loop) runs on the CPU: control flow runs on the CPU"),
            std::string::npos)
      << warnings_of(plan);
  auto session = plan.open_on_device();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const int64_t trips : {3, 0, 4}) {
    session->input<int64_t>(0).value()[0] = trips;
    session->input<float>(1).value()[2] = 0.5f;
    ASSERT_TRUE(session->run().ok());
    const float e = std::exp(0.5f);
    EXPECT_NEAR(session->output<float>(0).value()[2], -e * static_cast<float>(trips + 1), 1e-4f);
    const auto all = session->output<float>(1).value();
    ASSERT_EQ(all.size(), static_cast<size_t>(3 * (trips + 1)));
    EXPECT_NEAR(all.back(), trips == 0 ? 0.5f : e * static_cast<float>(trips + 1), 1e-4f);
  }
  EXPECT_TRUE(emulation::Emulator::get().violations().empty());
}

TEST(CudaPlacement, NodesAreOrderedInFewRuns) {
  // Two chains side by side, each with a node of the host in its middle: in the model's order the
  // device would be left four times.
  OnnxBuilder model;
  model.input("x", {4});
  model.output("y");
  for (const char* name : {"a", "b"}) {
    const std::string n = name;
    model.node("Exp", {"x"}, {(n + "1").c_str()});
    model.node("Tanh", {(n + "1").c_str()}, {(n + "2").c_str()});
    model.node(n == "a" ? "Hardmax" : "LpNormalization", {(n + "2").c_str()}, {(n + "3").c_str()});
    model.node("Neg", {(n + "3").c_str()}, {(n + "4").c_str()});
  }
  model.node("Add", {"a4", "b4"}, {"y"});
  const CudaPlan plan(model);
  EXPECT_EQ(plan.summary().segments, 2u);
}

TEST(CudaPlacement, ArenasAreSeparateAndStatesStayOnTheHost) {
  OnnxBuilder model;
  model.input("x", {1000});
  model.input("sum_in", {1000});
  model.output("y");
  model.output("sum_out");
  model.node("Add", {"x", "sum_in"}, {"sum_out"});
  model.node("Neg", {"sum_out"}, {"n"});
  model.node("Exp", {"n"}, {"y"});
  ConvertOptions options;
  options.states["sum_out"] = "sum_in";
  emulation::Emulator::get().reset();
  CudaPlan plan(model, options);
  // The sum is computed in place of x; of host's values only the copies and the state are left.
  EXPECT_GE(plan.summary().device_arena_bytes, kDevicePrefix + 8000);
  EXPECT_GE(plan.summary().device_lower_bound_bytes, 8000u);
  EXPECT_EQ(plan.summary().segments, 1u);
  auto session = plan.open_on_device();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (int run = 1; run <= 3; ++run) {
    session->input<float>(0).value()[7] = 0.25f;
    ASSERT_TRUE(session->run().ok());
    EXPECT_NEAR(session->output<float>(0).value()[7], std::exp(-0.25f * static_cast<float>(run)),
                1e-6f);
  }
  ASSERT_TRUE(session->reset_states());
  session->input<float>(0).value()[7] = 0.25f;
  ASSERT_TRUE(session->run().ok());
  EXPECT_NEAR(session->output<float>(0).value()[7], std::exp(-0.25f), 1e-6f);
}

TEST(CudaPlacement, WeightsOfBothSidesAreEachInTheirPart) {
  // The same constant is read by a node of either side.
  OnnxBuilder model;
  model.input("x", {1, 64});
  model.output("y");
  model.output("z");
  model.floats("c", {64}, std::vector<float>(64, 3.0f));
  model.node("Mul", {"x", "c"}, {"y"});
  model.node("Mean", {"x", "c"}, {"z"});
  emulation::Emulator::get().reset();
  CudaPlan plan(model);
  EXPECT_EQ(plan.summary().device_weights_bytes, 256u);
  EXPECT_EQ(plan.summary().weights_bytes, 512u);
  auto session = plan.open_on_device();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  session->input<float>(0).value()[5] = 4;
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(session->output<float>(0).value()[5], 12);
  EXPECT_EQ(session->output<float>(1).value()[5], 3.5f);
}

}  // namespace
}  // namespace intarsia::test
