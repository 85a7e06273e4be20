// SPDX-License-Identifier: Apache-2.0
//
// Models that learn on the device: weights are states that begin as initialisers, each run takes
// them a step down the gradient of the loss. Beside them the same steps in double precision.
#include <cmath>

#include "test/converter/gradient_node.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;

constexpr const char* kTraining = "ai.onnx.preview.training";

OnnxBuilder training_model() {
  OnnxBuilder model(28);
  model.import_opset(kTraining, 1);
  return model;
}

/// A model that learns on the device: the weight is a state, each run takes it a step down the
/// gradient of the squared error.
TEST(Training, StepsDownTheGradientReachTheSolution) {
  OnnxBuilder model = training_model();
  model.input("x", {4, 2});
  model.input("t", {4, 1});
  model.floats("w", {2, 1}, {0, 0});
  model.floats("rate", {}, {0.25f});
  model.node("MatMul", {"x", "w"}, {"guess"});
  model.node("Sub", {"guess", "t"}, {"error"});
  model.node("Mul", {"error", "error"}, {"square"});
  OnnxBuilder::set(model.node("ReduceMean", {"square"}, {"loss"}), "keepdims", int64_t{0});
  model.output("loss");
  add_gradient(*model.graph().mutable_node(), {"w"}, {"dw"}, {"w"}, "loss");
  model.node("Mul", {"dw", "rate"}, {"step"});
  model.node("Sub", {"w", "step"}, {"w_next"});
  model.output("w_next");
  converter::ConvertOptions options;
  options.states["w_next"] = "w";
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  float loss = 0;
  for (int step = 0; step < 60; ++step) {
    write(*session, 0, {1, 0, 0, 1, 1, 1, 1, -1});
    write(*session, 1, {3, -2, 1, 5});  // x (3, -2)
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    loss = read(*session, 0)[0];
    if (step == 0) {
      EXPECT_FLOAT_EQ(loss, (9 + 4 + 1 + 25) / 4.f);
    }
  }
  EXPECT_LT(loss, 1e-6f);
  const auto* w = session->state(0).value().tensor.as<const float>();
  EXPECT_NEAR(w[0], 3, 1e-3f);
  EXPECT_NEAR(w[1], -2, 1e-3f);
}

constexpr size_t kRows = 6, kColumns = 2, kClasses = 3;
const std::vector<float> kPoints{2, 0.5f, 1.5f, -0.25f, -1, 2, -0.5f, 1.5f, -1, -2, 0.25f, -1.5f};
const std::vector<int64_t> kLabels{0, 0, 1, 1, 2, -1};  // the last is not counted
const std::vector<float> kWeights{0.1f, -0.2f, 0, 0.05f, 0.1f, -0.1f};

/// Softmax regression, trained by Adam; the state of the optimiser is the session's, too.
OnnxBuilder classifier() {
  OnnxBuilder model = training_model();
  model.input("x", {kRows, kColumns});
  model.input("labels", {kRows}, DataType::kInt64);
  model.floats("w", {kColumns, kClasses}, kWeights);
  for (const char* name : {"v", "h"}) model.floats(name, {2, 3}, std::vector<float>(6, 0));
  const int64_t zero = 0, one = 1;
  model.initializer("t", DataType::kInt64, {}, &zero, sizeof(zero));
  model.initializer("one", DataType::kInt64, {}, &one, sizeof(one));
  model.floats("rate", {}, {0.1f});
  model.node("MatMul", {"x", "w"}, {"scores"});
  auto& loss = model.node("SoftmaxCrossEntropyLoss", {"scores", "labels"}, {"loss", "log_prob"});
  OnnxBuilder::set(loss, "ignore_index", int64_t{-1});
  add_gradient(*model.graph().mutable_node(), {"w"}, {"dw"}, {"w"}, "loss");
  auto& adam = model.node("Adam", {"rate", "t", "w", "dw", "v", "h"}, {"w_", "v_", "h_"});
  adam.set_domain(kTraining);
  OnnxBuilder::set(adam, "norm_coefficient", 0.01f);
  model.node("Add", {"t", "one"}, {"t_"});
  for (const char* name : {"loss", "log_prob", "w_", "v_", "h_", "t_"}) model.output(name);
  return model;
}

/// One step in double precision; gives the loss before it.
double step(std::vector<double>& w, std::vector<double>& v, std::vector<double>& h, int t) {
  std::vector<double> gradient(w.size(), 0);
  double loss = 0;
  const double counted = kRows - 1;
  for (size_t i = 0; i < kRows; ++i) {
    double scores[kClasses] = {}, sum = 0;
    for (size_t c = 0; c < kClasses; ++c) {
      for (size_t k = 0; k < kColumns; ++k) {
        scores[c] += static_cast<double>(kPoints[i * kColumns + k]) * w[k * kClasses + c];
      }
      sum += std::exp(scores[c]);
    }
    if (kLabels[i] < 0) continue;
    const auto label = static_cast<size_t>(kLabels[i]);
    loss -= (scores[label] - std::log(sum)) / counted;
    for (size_t c = 0; c < kClasses; ++c) {
      const double slope = (std::exp(scores[c]) / sum - (c == label ? 1 : 0)) / counted;
      for (size_t k = 0; k < kColumns; ++k) {
        gradient[k * kClasses + c] += slope * static_cast<double>(kPoints[i * kColumns + k]);
      }
    }
  }
  const double rate =
      t > 0 ? 0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) : 0.1;
  for (size_t i = 0; i < w.size(); ++i) {
    const double g = gradient[i] + 0.01 * w[i];
    v[i] = 0.9 * v[i] + 0.1 * g;
    h[i] = 0.999 * h[i] + 0.001 * g * g;
    w[i] -= rate * v[i] / (std::sqrt(h[i]) + 1e-6);
  }
  return loss;
}

TEST(Training, AdamTrainsAClassifierAsInDoublePrecision) {
  ConvertOptions options;
  for (const char* name : {"w", "v", "h", "t"}) options.states[std::string(name) + "_"] = name;
  SmallPlan plan(classifier(), options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_EQ(session->state_count(), 4);
  std::vector<double> w(kWeights.begin(), kWeights.end()), v(6, 0), h(6, 0);
  double first = 0, last = 0;
  for (int t = 0; t < 60; ++t) {
    write(*session, 0, kPoints);
    std::copy(kLabels.begin(), kLabels.end(), session->input<int64_t>(1).value().begin());
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    last = step(w, v, h, t);
    if (t == 0) first = last;
    ASSERT_NEAR(read(*session, 0)[0], last, 1e-4 * first) << t;
  }
  EXPECT_LT(last, 0.1 * first);
  for (int i = 0; i < session->state_count(); ++i) {
    const Port state = session->state(i).value();
    if (state.name != "w") continue;
    for (size_t k = 0; k < w.size(); ++k) {
      EXPECT_NEAR(state.tensor.as<const float>()[k], w[k], 1e-3) << k;
    }
  }
}

TEST(Training, WhatAnOptimiserLacksIsNamed) {
  OnnxBuilder uneven = classifier();
  for (auto& node : *uneven.graph().mutable_node()) {
    if (node.op_type() == "Adam") node.mutable_input()->RemoveLast();
  }
  EXPECT_CONTAINS(conversion_error(uneven), "has 3 inputs behind R and T, which 4 for each tensor");
  OnnxBuilder mode = training_model();
  for (const char* name : {"r", "x", "g", "v"}) mode.input(name, {});
  mode.input("t", {}, DataType::kInt64);
  auto& node = mode.node("Momentum", {"r", "t", "x", "g", "v"}, {"y"});
  node.set_domain(kTraining);
  OnnxBuilder::set(node, "mode", "fast");
  mode.output("y");
  EXPECT_CONTAINS(conversion_error(mode), "attribute 'mode' is 'fast'");
  OnnxBuilder loss = classifier();
  for (auto& each : *loss.graph().mutable_node()) {
    if (each.op_type() == "SoftmaxCrossEntropyLoss") OnnxBuilder::set(each, "reduction", "most");
  }
  EXPECT_CONTAINS(conversion_error(loss), "attribute 'reduction' is 'most'");
}

}  // namespace
}  // namespace intarsia::test
