// SPDX-License-Identifier: Apache-2.0
//
// Entry points that compute gradients (`--gradient`, `--trainable`): the same numbers as the
// operator Gradient for every rule there is, what they keep of the forward run, what they refuse.
#include <cmath>

#include "test/converter/gradient_cases.h"
#include "test/runtime/forged_plan.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::DimRange;
using converter::OnnxBuilder;
using definitions::OperatorDefinition;

constexpr int kForward = 0, kBackward = 1;

ConvertOptions gradients_of(const std::string& output, const Names& inputs) {
  ConvertOptions options;
  options.gradients.push_back({output, inputs});
  return options;
}

// ----------------------------------------------------------------------------------------------
// Against the operator Gradient, which test/converter/gradient_rules_test.cpp holds to differences.

class BackwardOf : public testing::TestWithParam<const OperatorDefinition*> {
 protected:
  using Values = std::vector<std::vector<double>>;

  static void set_inputs(Session& session, const Values& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto span = session.input<double>(static_cast<int>(i)).value();
      ASSERT_EQ(span.size(), values[i].size());
      std::copy(values[i].begin(), values[i].end(), span.begin());
    }
  }
  static std::vector<double> result(Session& session, int output, int entry) {
    const auto span = session.output<double>(output, entry).value();
    return {span.begin(), span.end()};
  }
  /// Each result as a vector of at least two elements: one of one element would have no weight.
  static Names vectors_of(GradientSample& sample) {
    Names names;
    const std::string all = sample.integers({-1});
    for (const std::string& y : sample.results) {
      sample.model.node("Reshape", {y, all}, {"row_" + y});
      OnnxBuilder::set(sample.model.node("Concat", {"row_" + y, "row_" + y}, {"twice_" + y}),
                       "axis", int64_t{0});
      names.push_back("twice_" + y);
    }
    return names;
  }

  /// The sum of sin(y) over all results, and its gradients.
  static void add_gradient_node(GradientSample& sample, const Names& ys, const Names& xs) {
    OnnxBuilder& model = sample.model;
    model.import_opset("ai.onnx.preview.training", 1);
    Names sums;
    for (const std::string& y : ys) {
      model.node("Sin", {y}, {"sin_" + y});
      OnnxBuilder::set(model.node("ReduceSum", {"sin_" + y}, {"sum_" + y}), "keepdims", int64_t{0});
      sums.push_back("sum_" + y);
    }
    model.node("Sum", sums, {"loss"});
    Names gradients;
    for (const std::string& x : xs) gradients.push_back("d" + x);
    add_gradient(*model.graph().mutable_node(), xs, gradients, xs, "loss");
    for (const std::string& each : gradients) model.output(each);
  }

  static void run(SmallPlan& plan, Session& session, int entry) {
    ASSERT_TRUE(session.run(entry).ok()) << plan.text(session.diagnostic());
  }
};

TEST_P(BackwardOf, AgreesWithTheOperatorGradient) {
  const GradientCase sample_of = gradient_case(*GetParam());
  ASSERT_NE(sample_of, nullptr);
  Choices first(1), second(1);
  Random values_random(101);
  for (int i = 0; i < (kSlowBuild ? 1 : 4) && !HasFailure(); ++i) {
    SCOPED_TRACE("sample " + std::to_string(i));
    GradientSample expected(*GetParam(), first), sample(*GetParam(), second);
    sample_of(expected);
    sample_of(sample);
    Names xs;
    for (const auto& variable : sample.variables) xs.push_back(variable.name);
    Values values;
    for (const auto& variable : sample.variables) {
      values.push_back(sample.values_of(variable, values_random));
    }

    add_gradient_node(expected, vectors_of(expected), xs);
    SmallPlan reference(expected.model);
    ASSERT_FALSE(HasFailure());
    auto reference_session = reference.open();
    ASSERT_TRUE(reference_session.ok()) << reference.text(reference.diagnostic);
    set_inputs(*reference_session, values);
    run(reference, *reference_session, 0);

    const Names ys = vectors_of(sample);
    ConvertOptions options;
    for (const std::string& y : ys) {
      sample.model.output(y);
      options.gradients.push_back({y, xs});
    }
    SmallPlan plan(sample.model, options);
    ASSERT_FALSE(HasFailure());
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    set_inputs(*session, values);
    run(plan, *session, kForward);
    for (size_t i = 0; i < ys.size(); ++i) {
      const std::vector<double> y = result(*session, static_cast<int>(i), kForward);
      const int weight = session->find_input(ys[i] + "_grad", kBackward).value();
      const auto span = session->input<double>(weight, kBackward).value();
      ASSERT_EQ(span.size(), y.size());
      std::transform(y.begin(), y.end(), span.begin(), [](double v) { return std::cos(v); });
    }
    run(plan, *session, kBackward);
    for (size_t i = 0; i < xs.size(); ++i) {
      const std::vector<double> found = result(*session, static_cast<int>(i), kBackward);
      const std::vector<double> wanted = result(*reference_session, static_cast<int>(i), 0);
      ASSERT_EQ(found.size(), wanted.size());
      for (size_t k = 0; k < found.size(); ++k) {
        EXPECT_NEAR(found[k], wanted[k], 1e-11 * (1 + std::abs(wanted[k])))
            << xs[i] << "[" << k << "]";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Definitions, BackwardOf, testing::ValuesIn(differentiable()),
                         [](const auto& info) { return std::string(info.param->name); });

// ----------------------------------------------------------------------------------------------

/// y = tanh(x w) with x [n, 2] and w [2, 3].
OnnxBuilder layer() {
  OnnxBuilder model;
  symbol(model.input("x", {0, 2}), 0, "n");
  model.floats("w", {2, 3}, {0.5f, -1, 0.25f, 1, 0.75f, -0.5f});
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("Tanh", {"h"}, {"y"});
  model.output("y");
  return model;
}

struct LayerGradients {
  std::vector<double> y, dx, dw;
};
LayerGradients layer_in_double(const std::vector<float>& x, const std::vector<float>& w,
                               const std::vector<float>& dy) {
  LayerGradients result{{}, std::vector<double>(x.size(), 0), std::vector<double>(6, 0)};
  for (size_t row = 0; row < x.size() / 2; ++row) {
    for (size_t c = 0; c < 3; ++c) {
      const double x0 = x[2 * row], x1 = x[2 * row + 1], w0 = w[c], w1 = w[3 + c];
      const double y = std::tanh(x0 * w0 + x1 * w1);
      const double slope = (1 - y * y) * static_cast<double>(dy[3 * row + c]);
      result.y.push_back(y);
      result.dx[2 * row] += slope * w0;
      result.dx[2 * row + 1] += slope * w1;
      result.dw[c] += slope * x0;
      result.dw[3 + c] += slope * x1;
    }
  }
  return result;
}
void expect_near(const std::vector<float>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6) << i;
}

ConvertOptions layer_options() {
  ConvertOptions options = gradients_of("y", {"x"});
  options.trainable = {"w"};
  options.dims["n"] = DimRange{1, 5};
  return options;
}

TEST(Backward, HasTheExtentsOfTheForwardRun) {
  SmallPlan plan(layer(), layer_options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_EQ(session->entry_count(), 2);
  EXPECT_EQ(session->find_entry("forward").value(), kForward);
  EXPECT_EQ(session->find_entry("backward").value(), kBackward);
  EXPECT_EQ(session->input_port(0, kBackward)->name, "y_grad");
  ASSERT_EQ(session->output_count(kBackward), 2);
  EXPECT_EQ(session->output_port(0, kBackward)->name, "x_grad");
  EXPECT_EQ(session->output_port(1, kBackward)->name, "w_grad");
  ASSERT_EQ(session->state_count(), 1);
  EXPECT_EQ(session->state(0)->name, "w");
  const std::vector<float> w{0.5f, -1, 0.25f, 1, 0.75f, -0.5f};
  for (const int32_t n : {3, 5, 1, 2}) {
    SCOPED_TRACE(n);
    const int32_t extents[] = {n, 2};
    ASSERT_TRUE(session->resize_input(0, extents).ok());
    std::vector<float> x, dy;
    for (int i = 0; i < 2 * n; ++i) x.push_back(0.3f * static_cast<float>(i) - 0.7f);
    for (int i = 0; i < 3 * n; ++i) dy.push_back(0.2f * static_cast<float>(i % 4) - 0.3f);
    write(*session, 0, x);
    ASSERT_TRUE(session->run(kForward).ok()) << plan.text(session->diagnostic());
    const LayerGradients wanted = layer_in_double(x, w, dy);
    expect_near(read(*session, 0, kForward), wanted.y);
    // As the run has found them; others are refused.
    ASSERT_EQ(session->input<float>(0, kBackward)->size(), dy.size());
    const int32_t same[] = {n, 3}, other[] = {n + 1, 3};
    EXPECT_TRUE(session->resize_input(0, same, kBackward).ok());
    EXPECT_EQ(session->resize_input(0, other, kBackward).code(), Code::kWrongExtent);
    write(*session, 0, dy, kBackward);
    ASSERT_TRUE(session->run(kBackward).ok()) << plan.text(session->diagnostic());
    expect_near(read(*session, 0, kBackward), wanted.dx);
    expect_near(read(*session, 1, kBackward), wanted.dw);
    expect_near(read(*session, 0, kForward), wanted.y);  // still there
  }
}

TEST(Backward, ComesRightBehindForward) {
  SmallPlan plan(layer(), layer_options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const auto forward = [&] {
    std::fill_n(session->input<float>(0)->data(), session->input<float>(0)->size(), 0.5f);
    ASSERT_TRUE(session->run(kForward).ok());
  };
  const auto refused = [&] {
    EXPECT_EQ(session->run(kBackward).code(), Code::kInvalidArgument);
    EXPECT_CONTAINS(plan.text(session->diagnostic()),
                    "no run of the entry point that this one continues: expected 0, found");
  };
  refused();  // nothing has run
  forward();
  ASSERT_TRUE(session->run(kBackward).ok());
  refused();  // what it read may be overwritten
  forward();
  const int32_t extents[] = {2, 2};
  ASSERT_TRUE(session->resize_input(0, extents).ok());
  refused();
  forward();
  const std::vector<float> x(10, 1);
  ASSERT_TRUE(session->bind_input(0, x.data(), 40).ok());
  refused();
  std::vector<float> y(15);
  ASSERT_TRUE(session->run(kForward).ok());
  ASSERT_TRUE(session->bind_output(0, y.data(), 60).ok());
  refused();
  ASSERT_TRUE(session->run(kForward).ok());
  ASSERT_TRUE(session->reset_states().ok());
  refused();
  ASSERT_TRUE(session->run(kForward).ok());
  EXPECT_TRUE(session->run(kBackward).ok());
}

TEST(Backward, IsRefusedBehindARunOfAnother) {
  OnnxBuilder other;
  other.input("x", {4});
  other.node("Neg", {"x"}, {"z"});
  other.output("z");
  ConvertOptions options = layer_options();
  options.gradients = {{"learn:y", {"x"}}};
  SmallPlan plan({{"learn", layer()}, {"other", other}}, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const int learn = session->find_entry("learn").value(),
            backward = session->find_entry("backward").value(),
            negate = session->find_entry("other").value();
  ASSERT_TRUE(session->run(learn).ok());
  ASSERT_TRUE(session->run(negate).ok());
  EXPECT_EQ(session->run(backward).code(), Code::kInvalidArgument);
  ASSERT_TRUE(session->run(learn).ok());
  EXPECT_TRUE(session->run(backward).ok());
}

/// A failed run has left nothing to continue.
TEST(Backward, IsRefusedBehindAFailedRun) {
  OnnxBuilder model;
  model.input("x", {4});
  model.input("at", {2}, DataType::kInt64);
  model.node("Gather", {"x", "at"}, {"y"});
  model.output("y");
  SmallPlan plan(model, gradients_of("y", {"x"}));
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const auto forward = [&](int64_t at) {
    const auto span = session->input<int64_t>(1).value();
    span[0] = 1;
    span[1] = at;
    return session->run(kForward);
  };
  ASSERT_TRUE(forward(1).ok());
  EXPECT_FALSE(forward(9).ok());
  EXPECT_EQ(session->run(kBackward).code(), Code::kInvalidArgument);
  ASSERT_TRUE(forward(1).ok());
  write(*session, 0, {2, 3}, kBackward);
  ASSERT_TRUE(session->run(kBackward).ok());
  EXPECT_EQ(read(*session, 0, kBackward), (std::vector<float>{0, 5, 0, 0}));
}

/// Steps of gradient descent by the program itself.
TEST(Backward, WeightsAreStatesThatAProgramMayWrite) {
  ConvertOptions options = layer_options();
  options.gradients = {{"y", {}}};  // by what is trainable
  SmallPlan plan(layer(), options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const int32_t extents[] = {3, 2};
  ASSERT_TRUE(session->resize_input(0, extents).ok());
  ASSERT_EQ(session->output_count(kBackward), 1);
  const std::vector<float> x{1, 0.5f, -0.5f, 1, 0.25f, -1}, dy(9, 1);
  auto* w = session->state(0)->tensor.as<float>();
  std::vector<float> reference(w, w + 6);
  EXPECT_EQ(reference, (std::vector<float>{0.5f, -1, 0.25f, 1, 0.75f, -0.5f}));
  for (int step = 0; step < 20; ++step) {
    write(*session, 0, x);
    ASSERT_TRUE(session->run(kForward).ok());
    write(*session, 0, dy, kBackward);
    ASSERT_TRUE(session->run(kBackward).ok());
    const LayerGradients wanted = layer_in_double(x, reference, dy);
    const std::vector<float> dw = read(*session, 0, kBackward);
    expect_near(dw, wanted.dw);
    for (size_t i = 0; i < 6; ++i) {
      w[i] -= 0.1f * dw[i];
      reference[i] = w[i];
    }
  }
  ASSERT_TRUE(session->reset_states().ok());
  EXPECT_FLOAT_EQ(w[1], -1);
}

/// y = sum of h x, and h becomes h + x at the end of the run: the gradient by x is the old h.
TEST(Backward, ReadsStatesAsForwardHasFoundThem) {
  OnnxBuilder model;
  model.input("x", {4});
  model.input("h", {4});
  model.node("Mul", {"h", "x"}, {"p"});
  OnnxBuilder::set(model.node("ReduceSum", {"p"}, {"y"}), "keepdims", int64_t{0});
  model.node("Add", {"h", "x"}, {"h_next"});
  model.output("y");
  model.output("h_next");
  ConvertOptions options = gradients_of("y", {"x"});
  options.states["h_next"] = "h";
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_EQ(session->input_count(kBackward), 0);  // y has one element
  std::vector<float> h(4, 0);
  for (int run = 0; run < 3; ++run) {
    const std::vector<float> x{1.f + static_cast<float>(run), 2, -1, 0.5f};
    write(*session, 0, x);
    ASSERT_TRUE(session->run(kForward).ok());
    ASSERT_TRUE(session->run(kBackward).ok());
    EXPECT_EQ(read(*session, 0, kBackward), h) << run;
    for (size_t i = 0; i < 4; ++i) h[i] += x[i];
    const auto* state = session->state(0)->tensor.as<const float>();
    EXPECT_EQ(std::vector<float>(state, state + 4), h) << run;
  }
}

/// A chain of 12 layers of n elements: backward needs each layer's result once, and one gradient.
TEST(Backward, MemoryIsPlannedOverBothRuns) {
  constexpr int64_t kLayers = 12, kElements = 4096;
  OnnxBuilder model;
  model.input("x", {kElements});
  std::string last = "x";
  for (int i = 0; i < kLayers; ++i) {
    const std::string next = "h" + std::to_string(i);
    model.node("Tanh", {last}, {next});  // its gradient needs the result
    last = next;
  }
  OnnxBuilder::set(model.node("ReduceSum", {last}, {"y"}), "keepdims", int64_t{0});
  model.output("y");
  SmallPlan plan(model, gradients_of("y", {"x"}));
  ASSERT_FALSE(HasFailure());
  const auto& summary = plan.conversion.plan.summary;
  const uint64_t tensor = kElements * sizeof(float);
  // Beside the layers: x, which is a port, its gradient, and two of temporaries.
  EXPECT_LE(summary.arena_bytes - summary.metadata_bytes, (kLayers + 4) * tensor + 4096);
  EXPECT_GE(summary.arena_bytes, kLayers * tensor);
}

/// Whatever is read and bound, gradients stay while forward runs again, and forward's results while
/// backward runs.
TEST(Backward, PortsOutliveTheOtherRun) {
  OnnxBuilder model;
  model.input("x", {64});
  model.node("Exp", {"x"}, {"e"});
  model.node("Identity", {"e"}, {"y"});
  model.output("y");
  SmallPlan plan(model, gradients_of("y", {"x"}));
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  std::vector<float> y(64);
  ASSERT_TRUE(session->bind_output(0, y.data(), y.size() * 4, kForward).ok());
  write(*session, 0, std::vector<float>(64, 1));
  ASSERT_TRUE(session->run(kForward).ok());
  write(*session, 0, std::vector<float>(64, 2), kBackward);
  ASSERT_TRUE(session->run(kBackward).ok());
  const std::vector<float> gradient = read(*session, 0, kBackward);
  EXPECT_NEAR(gradient[7], 2 * std::exp(1.0), 1e-5);
  EXPECT_NEAR(y[7], std::exp(1.0), 1e-5);
  write(*session, 0, std::vector<float>(64, -1));
  ASSERT_TRUE(session->run(kForward).ok());
  EXPECT_EQ(read(*session, 0, kBackward), gradient);
}

/// Inputs of which different outputs have the gradients, and a value inside.
TEST(Backward, SumsOverTheOutputsThatNameAnInput) {
  OnnxBuilder model;
  model.input("a", {2});
  model.input("b", {2});
  model.node("Mul", {"a", "b"}, {"p"});
  model.node("Mul", {"p", "p"}, {"y"});
  model.node("Mul", {"p", "b"}, {"z"});
  model.output("y");
  model.output("z");
  ConvertOptions options = gradients_of("y", {"a", "p"});
  options.gradients.push_back({"z", {"a", "b"}});
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const std::vector<float> a{2, 3}, b{5, -7}, dy{1, 2}, dz{10, 20};
  write(*session, 0, a);
  write(*session, 1, b);
  ASSERT_TRUE(session->run(kForward).ok());
  write(*session, session->find_input("y_grad", kBackward).value(), dy, kBackward);
  write(*session, session->find_input("z_grad", kBackward).value(), dz, kBackward);
  ASSERT_TRUE(session->run(kBackward).ok());
  for (size_t i = 0; i < 2; ++i) {
    const float p = a[i] * b[i];
    const auto found = [&](const char* name) {
      return read(*session, session->find_output(name, kBackward).value(), kBackward)[i];
    };
    EXPECT_FLOAT_EQ(found("a_grad"), dy[i] * 2 * p * b[i] + dz[i] * b[i] * b[i]);
    EXPECT_FLOAT_EQ(found("b_grad"), dz[i] * 2 * a[i] * b[i]);
    EXPECT_FLOAT_EQ(found("p_grad"), dy[i] * 2 * p);
  }
}

/// One input, and outputs of two types that depend on it.
TEST(Backward, SumsOverOutputsOfSeveralTypes) {
  OnnxBuilder model;
  model.input("x", {2});
  model.node("Mul", {"x", "x"}, {"y"});
  OnnxBuilder::set(model.node("Cast", {"x"}, {"wide"}), "to",
                   static_cast<int64_t>(DataType::kDouble));
  model.node("Sin", {"wide"}, {"z"});
  model.output("y");
  model.output("z");
  for (const bool wide_first : {false, true}) {
    ConvertOptions options = gradients_of(wide_first ? "z" : "y", {"x"});
    options.gradients.push_back({wide_first ? "y" : "z", {"x"}});
    SmallPlan plan(model, options);
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    write(*session, 0, {2, 3});
    ASSERT_TRUE(session->run(kForward).ok());
    write(*session, session->find_input("y_grad", kBackward).value(), {10, 20}, kBackward);
    const auto weight =
        session->input<double>(session->find_input("z_grad", kBackward).value(), kBackward).value();
    weight[0] = 1;
    weight[1] = -1;
    ASSERT_TRUE(session->run(kBackward).ok());
    const auto found = read(*session, 0, kBackward);
    EXPECT_FLOAT_EQ(found.at(0), 40 + std::cos(2.0F));
    EXPECT_FLOAT_EQ(found.at(1), 120 - std::cos(3.0F));
  }
}

TEST(Backward, NamesOfSeveralModels) {
  ConvertOptions options = layer_options();
  options.gradients = {{"y", {"x"}}};
  options.trainable = {"one:w*"};
  SmallPlan plan({{"one", layer()}, {"two", layer()}}, options);
  ASSERT_FALSE(HasFailure());
  Names names;
  for (const auto& entry : plan.conversion.entries) names.push_back(entry.name);
  EXPECT_EQ(names, (Names{"one", "one_backward", "two", "two_backward"}));
  ASSERT_EQ(plan.conversion.states.size(), 1U);
  EXPECT_EQ(plan.conversion.entries[1].outputs.size(), 2U);
  EXPECT_EQ(plan.conversion.entries[3].outputs.size(), 1U);
  // An optimiser of its own reads the gradient and writes the weight.
  OnnxBuilder step;
  step.input("w", {2, 3});
  step.input("g", {2, 3});
  step.node("Sub", {"w", "g"}, {"w_next"});
  step.output("w_next");
  ConvertOptions learning = layer_options();
  learning.states["step:w_next"] = "w";
  learning.states["backward:w_grad"] = "step:g";
  SmallPlan trained({{"learn", layer()}, {"step", step}}, learning);
  auto session = trained.open();
  ASSERT_TRUE(session.ok()) << trained.text(trained.diagnostic);
  const auto run = [&](const char* name) {
    ASSERT_TRUE(session->run(session->find_entry(name).value()).ok());
  };
  const int32_t extents[] = {1, 2};
  ASSERT_TRUE(session->resize_input(0, extents).ok());
  write(*session, 0, {1, -1});
  run("learn");
  write(*session, 0, {1, 1, 1}, session->find_entry("backward").value());
  run("backward");
  run("step");
  const std::vector<float> w{0.5f, -1, 0.25f, 1, 0.75f, -0.5f};
  const LayerGradients wanted = layer_in_double({1, -1}, w, {1, 1, 1});
  for (int i = 0; i < session->state_count(); ++i) {
    const Port state = session->state(i).value();
    if (state.name != "w") continue;
    for (size_t k = 0; k < 6; ++k) {
      EXPECT_NEAR(state.tensor.as<const float>()[k], w[k] - wanted.dw[k], 1e-6);
    }
  }
}

TEST(Backward, AWeightMayBeNamedTwice) {
  ConvertOptions options = layer_options();
  options.trainable = {"w*", "w", "*"};
  SmallPlan plan(layer(), options);
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(plan.conversion.states.size(), 1U);
  EXPECT_EQ(plan.conversion.entries.at(kBackward).outputs.size(), 2U);
}

TEST(Backward, WhatCannotBeIsNamed) {
  const auto error = [](ConvertOptions options) {
    options.dims["n"] = DimRange{1, 5};
    return conversion_error(layer(), options);
  };
  EXPECT_CONTAINS(error(gradients_of("z", {"x"})),
                  "--gradient z=x: the model has no output 'z'; its outputs are y");
  EXPECT_CONTAINS(error(gradients_of("y", {"q"})), "the model has no tensor 'q'");
  EXPECT_CONTAINS(error(gradients_of("y", {"w"})), "'w' is a constant");
  EXPECT_CONTAINS(error(gradients_of("y", {"w"})), "--trainable w");
  EXPECT_CONTAINS(error(gradients_of("y", {})), "there is nothing to differentiate by");
  ConvertOptions options = gradients_of("y", {"x"});
  options.trainable = {"v"};
  EXPECT_CONTAINS(error(options), "--trainable v: the model has no such initialiser");
  options.trainable = {"v*"};
  EXPECT_CONTAINS(error(options), "--trainable v*: the model has no such initialiser");
  OnnxBuilder indexed = layer();
  const int64_t first = 0;
  indexed.initializer("i", DataType::kInt64, {}, &first, sizeof(first));
  options.trainable = {"i"};
  options.dims["n"] = DimRange{1, 5};
  EXPECT_CONTAINS(conversion_error(indexed, options),
                  "--trainable i: the initialiser has type int64, but only floating-point numbers "
                  "have gradients");
  OnnxBuilder whole;
  whole.input("x", {2}, DataType::kInt64);
  whole.node("Neg", {"x"}, {"y"});
  whole.output("y");
  EXPECT_CONTAINS(conversion_error(whole, gradients_of("y", {"x"})),
                  "'y' has type int64, but only floating-point numbers have gradients");
  EXPECT_CONTAINS(conversion_error({{"backward", layer()}}, layer_options()),
                  "an entry point is called 'backward'");
}

TEST(Backward, AForgedOrderIsRefused) {
  ForgedPlan plan(layer(), layer_options());
  const auto* entry = reinterpret_cast<const flatbuffers::Table*>(plan.entry(kBackward));
  const uint8_t* field = entry->GetAddressOf(plan::Entry::VT_CONTINUES);
  ASSERT_NE(field, nullptr);
  const Forgery forgery(field, 0, uint32_t{2});
  EXPECT_FALSE(plan.open(ForgedPlan::unchecked()).ok());
  EXPECT_CONTAINS(plan.text(plan.diagnostic), "entry point that another continues");
}

}  // namespace
}  // namespace intarsia::test
