// SPDX-License-Identifier: Apache-2.0
//
// The pass for float16: which nodes and constants become halves, where Casts stand, and that plans
// agree with those of float32.
#include "converter/passes/halves.h"

#include "converter/passes/simplify.h"
#include "test/converter/inferred_model.h"
#include "test/cuda/models.h"

namespace intarsia::test {
namespace {

const ConvertOptions kHalves = [] {
  ConvertOptions options;
  options.precision = ConvertOptions::Precision::kFloat16;
  return options;
}();

/// The nodes after the pass, each with the type of its first output: "Cast:half Relu:half".
std::string nodes_of(const OnnxBuilder& builder, KernelDevice device = KernelDevice::kHost) {
  InferredModel model(builder);
  const auto& rows = converter::builtin_library().rows();
  converter::use_halves(model.graph(), {&rows, {.device = device}});
  converter::simplify(model.graph());
  EXPECT_EQ(model.graph().check(), "");
  std::string text;
  for (const auto& node : model.graph().nodes()) {
    const DataType type = node->outputs[0]->type;
    // What the pass says of types is what the operators say.
    model.inference.infer_outputs(*node);
    EXPECT_EQ(node->outputs[0]->type, type) << node->name;
    const bool half = type == DataType::kFloat16;
    text += (text.empty() ? "" : " ") + node->type + (half ? ":half" : "");
  }
  return text;
}

OnnxBuilder chain(const std::vector<std::string>& operators) {
  OnnxBuilder model;
  model.input("x", {4, 6});
  std::string last = "x";
  for (const std::string& type : operators) {
    const std::string next = "v" + std::to_string(model.graph().node_size());
    model.node(type, {last}, {next});
    last = next;
  }
  model.output(last);
  return model;
}

/// The largest difference between the plans as a part of the output's scale.
float difference(const OnnxBuilder& model, const ConvertOptions& options = kHalves) {
  SmallPlan wide(model), half(model, options);
  auto expected = wide.open(), found = half.open();
  if (!expected.ok() || !found.ok()) {
    ADD_FAILURE() << half.text(half.diagnostic);
    return 1;
  }
  const std::vector<float> wanted = outputs_of(*expected, 1), got = outputs_of(*found, 1);
  float scale = 0, largest = 0;
  EXPECT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(std::isfinite(got[i])) << i;
    scale = std::max(scale, std::fabs(wanted[i]));
    largest = std::max(largest, std::fabs(got[i] - wanted[i]));
  }
  EXPECT_GT(scale, 0.01f);
  return largest / scale;
}

TEST(Halves, CastsStandAtTheBordersOnly) {
  EXPECT_EQ(nodes_of(chain({"Tanh", "Exp", "Softmax"})),
            "Cast:half Tanh:half Exp:half Softmax:half Cast");
}

TEST(Halves, WhatHasNoKernelForThemStaysBetweenCasts) {
  // No device has a kernel for LpNormalization; any has one for Identity.
  const OnnxBuilder model = chain({"LpNormalization"});
  EXPECT_EQ(nodes_of(model), "Cast:half LpNormalization:half Cast");
  EXPECT_EQ(nodes_of(model, KernelDevice::kCuda), "LpNormalization");
  EXPECT_EQ(nodes_of(chain({"NonZero"})), "NonZero");
}

TEST(Halves, AValueIsCastOnce) {
  OnnxBuilder model;
  model.input("x", {4, 6});
  model.output("y");
  model.output("z");
  model.node("Tanh", {"x"}, {"t"});
  model.node("Exp", {"x"}, {"e"});
  model.node("Add", {"t", "e"}, {"y"});
  model.node("Mul", {"t", "y"}, {"z"});
  EXPECT_EQ(nodes_of(model), "Cast:half Tanh:half Exp:half Add:half Cast Mul:half Cast");
}

TEST(Halves, OtherTypesAndParametersOfTheirOwnTypeStay) {
  OnnxBuilder model;
  model.input("x", {1, 2, 4, 4});
  model.output("y");
  model.output("i");
  model.floats("scales", {4}, {1, 1, 2, 2});
  model.node("Resize", {"x", "", "scales"}, {"r"});
  model.node("Shape", {"r"}, {"s"});
  OnnxBuilder::set(model.node("Cast", {"s"}, {"c"}), "to", int64_t{1});
  model.node("ReduceMax", {"c"}, {"m"});
  model.node("Add", {"r", "m"}, {"y"});
  model.node("ArgMax", {"r"}, {"i"});
  InferredModel inferred(model);
  const auto& rows = converter::builtin_library().rows();
  converter::use_halves(inferred.graph(), {&rows, {}});
  EXPECT_EQ(inferred.graph().check(), "");
  for (const auto& node : inferred.graph().nodes()) {
    if (node->type == "Resize") {
      EXPECT_EQ(type_of(*node->inputs[0]), DataType::kFloat16);
      EXPECT_EQ(type_of(*node->inputs[2]), DataType::kFloat);
    }
    if (node->type == "ArgMax") {
      EXPECT_EQ(node->inputs[0]->type, DataType::kFloat);
    }
  }
}

TEST(Halves, ANumberThatWouldVanishKeepsItsNode) {
  OnnxBuilder model;
  model.input("x", {4, 6});
  model.output("y");
  model.floats("epsilon", {}, {1e-12f});
  model.floats("small", {2}, {1e-12f, 1});
  model.node("Abs", {"x"}, {"a"});
  model.node("Add", {"a", "epsilon"}, {"b"});
  model.node("Reciprocal", {"b"}, {"y"});
  EXPECT_EQ(nodes_of(model), "Cast:half Abs:half Cast Add Reciprocal");
}

TEST(Halves, SumsAndWhatFollowsFromThemStayUntilWeightsAreMultiplied) {
  OnnxBuilder model;
  model.input("x", {4, 6});
  model.output("y");
  model.floats("w", {6, 3}, std::vector<float>(18, 0.5f));
  model.floats("factors", {6}, {1, 2, 3, 4, 5, 6});
  model.node("Tanh", {"x"}, {"t"});
  model.node("Mul", {"t", "t"}, {"q"});  // that only the sum reads
  model.node("ReduceSum", {"q"}, {"s"});
  model.node("Sqrt", {"s"}, {"r"});
  model.node("Div", {"t", "r"}, {"d"});
  model.node("Mul", {"d", "factors"}, {"e"});
  model.node("MatMul", {"e", "w"}, {"m"});
  model.node("Exp", {"m"}, {"y"});
  EXPECT_EQ(nodes_of(model),
            "Cast:half Tanh:half Cast Mul ReduceSum Sqrt Div Mul Cast:half MatMul:half Exp:half "
            "Cast");
}

TEST(Halves, ASumBeyondTheLargestHalfIsNoInfinity) {
  OnnxBuilder model;
  model.input("x", {512, 512});
  model.output("y");
  model.output("z");
  model.floats("weight", {}, {1.0f / 512});
  model.node("Exp", {"x"}, {"e"});
  model.node("Neg", {"e"}, {"z"});  // not only the sum reads it
  model.node("ReduceSum", {"e"}, {"s"});
  model.node("Mul", {"s", "weight"}, {"y"});
  EXPECT_LE(difference(model), 2e-2f);
}

TEST(Halves, PlansAgreeWithThoseOfFloat32) {
  for (const OnnxBuilder& model :
       {OnnxBuilder(two_layers()), OnnxBuilder(small_resnet()), OnnxBuilder(with_a_host_node())}) {
    const float error = difference(model);
    EXPECT_LE(error, 2e-2f);
    EXPECT_GT(error, 1e-6f);  // else nothing is half
  }
}

TEST(Halves, WeightsTakeHalfTheMemory) {
  const RandomModel model = small_resnet();
  const SmallPlan wide(model), half(model, kHalves);
  EXPECT_LT(static_cast<double>(half.conversion.plan.summary.weights_bytes),
            0.6 * static_cast<double>(wide.conversion.plan.summary.weights_bytes));
  EXPECT_EQ(half.conversion.entries[0].inputs[0].type, DataType::kFloat);
  EXPECT_EQ(half.conversion.entries[0].outputs[0].type, DataType::kFloat);
}

TEST(Halves, AMaskOfTheLeastFloatIsFinite) {
  OnnxBuilder model;
  model.input("x", {2, 4});
  model.output("y");
  // A row of which all is masked: infinities there would give NaN.
  const float least = std::numeric_limits<float>::lowest();
  model.floats("mask", {2, 4}, {0, 0, least, 0, least, least, least, least});
  model.node("Tanh", {"x"}, {"t"});
  model.node("Add", {"t", "mask"}, {"m"});
  model.node("Softmax", {"m"}, {"y"});
  EXPECT_LE(difference(model), 2e-2f);
}

TEST(Halves, BranchesReadTheirValuesInFloat32) {
  OnnxBuilder model;
  model.input("x", {4, 6});
  model.output("y");
  const auto branch = [](const char* type, const char* name) {
    onnx::GraphProto graph;
    graph.set_name(name);
    OnnxBuilder::add_node(*graph.mutable_node(), type, {"t"}, {name});
    graph.add_output()->set_name(name);
    return graph;
  };
  model.node("Tanh", {"x"}, {"t"});
  model.node("ReduceMax", {"x"}, {"m"});
  model.floats("zero", {1, 1}, {0});
  model.node("Greater", {"m", "zero"}, {"positive"});
  auto& node = model.node("If", {"positive"}, {"i"});
  *OnnxBuilder::attribute(node, "then_branch", onnx::AttributeProto::GRAPH).mutable_g() =
      branch("Exp", "first");
  *OnnxBuilder::attribute(node, "else_branch", onnx::AttributeProto::GRAPH).mutable_g() =
      branch("Neg", "second");
  model.node("Add", {"i", "t"}, {"y"});
  EXPECT_LE(difference(model), 2e-2f);
}

TEST(Halves, PlansWithoutTheOptionAreThoseOfBefore) {
  EXPECT_EQ(difference(small_resnet(), {}), 0);
}

TEST(Halves, GradientsAreRefused) {
  ConvertOptions options = kHalves;
  options.gradients = {{"y", {"x"}}};
  EXPECT_NE(conversion_error(two_layers(), options)
                .find("--precision f16: a plan that computes gradients is float32"),
            std::string::npos);
}

}  // namespace
}  // namespace intarsia::test
