// SPDX-License-Identifier: Apache-2.0
//
// Operators of one's own between convolutions: the layout follows what their info says of axes, and
// leaves alone what says nothing.
#include "converter/passes/layout.h"
#include "converter/passes/simplify.h"
#include "test/converter/inferred_model.h"
#include "test/operators/own_library.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {

/// y[i] = the sum of x[0] to x[i] along the axis `along`.
template <class T>
struct Accumulate {
  static constexpr OperatorInfo info{
      .domain = "test", .name = "Accumulate", .inputs = {"x"}, .outputs = {"y"}, .axis = "along"};
  struct Attributes {
    float factor = 1;
    int32_t along = 0;
    template <class V>
    void fields(V& v) {
      v("factor", factor);
      v("along", along);
    }
  };
  static Status run(const Attributes& attributes, Input<T> x, Output<T> y) {
    const int axis = attributes.along < 0 ? attributes.along + x.rank() : attributes.along;
    int64_t stride = 1;
    for (int i = axis + 1; i < x.rank(); ++i) stride *= x.dim(i);
    for (int64_t i = 0; i < x.size(); ++i) {
      const bool first = i / stride % x.dim(axis) == 0;
      y[i] = static_cast<T>(attributes.factor) * x[i] + (first ? 0 : y[i - stride]);
    }
    return {};
  }
};

/// y = x + 2 place by place.
template <class T>
struct Raise {
  static constexpr OperatorInfo info{
      .domain = "test", .name = "Raise", .inputs = {"x"}, .outputs = {"y"}, .element_wise = true};
  static void run(Input<T> x, Output<T> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + 2;
  }
};

/// y[i] = x[i] + i, counted through memory; says nothing of axes.
template <class T>
struct Number {
  static constexpr OperatorInfo info{
      .domain = "test", .name = "Number", .inputs = {"x"}, .outputs = {"y"}};
  static void run(Input<T> x, Output<T> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + static_cast<T>(i);
  }
};

namespace {

using converter::OnnxBuilder;

std::shared_ptr<const converter::OperatorLibrary> library() {
  return options_with<OperatorList<Accumulate<float>, Accumulate<double>, Raise<float>,
                                   Raise<double>, Number<float>, Number<double>>>()
      .library;
}

/// Windows of 3 x 3 over 16 channels, which no convolution serves in ONNX's order: each channel
/// times one of two numbers.
template <class T>
std::vector<T> scales(T even, T odd) {
  std::vector<T> weights(16 * 16 * 9);
  for (size_t i = 0; i < 16; ++i) weights[(i * 16 + i) * 9 + 4] = i % 2 == 0 ? even : odd;
  return weights;
}

/// x [1,16,2,3] -> Conv -> `op` -> Conv.
template <class T>
OnnxBuilder model_of(const char* op) {
  OnnxBuilder model(21);
  model.import_opset("test", 1);
  const DataType type = data_type_of<T>;
  model.input("x", {1, 16, 2, 3}, type);
  model.output("y");
  const std::vector<T> up = scales<T>(1, -2), down = scales<T>(3, 1);
  const size_t bytes = up.size() * sizeof(T);
  model.initializer("w0", type, {16, 16, 3, 3}, up.data(), bytes);
  model.initializer("w1", type, {16, 16, 3, 3}, down.data(), bytes);
  const std::vector<int64_t> pads = {1, 1, 1, 1};
  model.set(model.node("Conv", {"x", "w0"}, {"h"}), "pads", pads);
  auto& node = model.node(op, {"h"}, {"z"});
  node.set_domain("test");
  if (std::string(op) == "Accumulate") {
    model.set(node, "along", int64_t{-3});
    model.set(node, "factor", 2.0f);
  }
  model.set(model.node("Conv", {"z", "w1"}, {"y"}), "pads", pads);
  return model;
}

template <class T>
std::vector<double> run(const char* op) {
  converter::ConvertOptions options;
  options.library = library();
  SmallPlan plan(model_of<T>(op), options);
  Session session = plan.open().value();
  T next = 1;
  for (T& element : session.input<T>(0).value()) element = next++;
  EXPECT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  const auto y = session.output<T>(0).value();
  return {y.begin(), y.end()};
}

/// Two of them around the model.
int transposes(const char* op) {
  const auto operators = library();
  InferredModel model(model_of<float>(op), *operators);
  converter::assign_layout(model.graph(), model.inference);
  converter::simplify(model.graph());
  int count = 0;
  for (const auto& node : model.graph().nodes()) count += node->type == "Transpose" ? 1 : 0;
  return count;
}

TEST(OwnAxis, IsRenumberedWithTheLayout) {
  EXPECT_EQ(run<float>("Accumulate"), run<double>("Accumulate"));
  EXPECT_EQ(transposes("Accumulate"), 2);
}

TEST(OwnAxis, ElementWiseFollows) {
  EXPECT_EQ(run<float>("Raise"), run<double>("Raise"));
  EXPECT_EQ(transposes("Raise"), 2);
}

TEST(OwnAxis, WhatSaysNothingSeesOnnxOrder) {
  EXPECT_EQ(run<float>("Number"), run<double>("Number"));
  EXPECT_EQ(transposes("Number"), 4);
}

}  // namespace
}  // namespace intarsia::test
