// SPDX-License-Identifier: Apache-2.0
//
// Every gradient rule against central differences in double. The list of operators is that of the
// definitions, so that a rule without a case here fails. Gradients of gradients are taken too: they
// go through the operators that rules are written with.
#include <cmath>

#include "test/converter/gradient_cases.h"
#include "test/runtime/small_plan.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

/// Samples of a rule's case, of which gradients of gradients are taken too. More are drawn until
/// all alternatives are met: where samples are dear, those are of gradients alone.
constexpr int kSamples = kSlowBuild ? 1 : 8, kMostSamples = kSlowBuild ? 5 : kSamples;

using converter::OnnxBuilder;
using definitions::OperatorDefinition;

/// Adds `name` = the sum of sin(v) over the elements of all `values`: each has a gradient of its
/// own.
void add_loss(OnnxBuilder& model, const std::string& name, const Names& values) {
  Names sums;
  for (const std::string& value : values) {
    model.node("Sin", {value}, {name + "_sin_" + value});
    sums.push_back(name + "_sum_" + value);
    OnnxBuilder::set(model.node("ReduceSum", {name + "_sin_" + value}, {sums.back()}), "keepdims",
                     int64_t{0});
  }
  model.node("Sum", sums, {name});
  model.output(name);
}

/// Adds the gradients of `y` by `xs`; returns their names.
Names add_outputs(OnnxBuilder& model, const std::string& y, const Names& xs) {
  Names gradients;
  for (const std::string& x : xs) gradients.push_back("d" + y + "_d" + x);
  add_gradient(*model.graph().mutable_node(), xs, gradients, xs, y);
  for (const std::string& gradient : gradients) model.output(gradient);
  return gradients;
}

/// A model whose outputs are a loss of order 1, its gradients, and likewise for each further order
/// a loss of the gradients, and its gradients.
class Differences {
 public:
  Differences(GradientSample& sample, int orders) : sample_(sample), orders_(orders) {
    OnnxBuilder& model = sample.model;
    model.import_opset("ai.onnx.preview.training", 1);
    Names xs;
    for (const auto& variable : sample.variables) xs.push_back(variable.name);
    add_loss(model, "first", sample.results);
    const Names gradients = add_outputs(model, "first", xs);
    if (orders < 2) return;
    add_loss(model, "second", gradients);
    add_outputs(model, "second", xs);
  }

  void check() {
    SmallPlan plan(sample_.model);
    if (HasFailure()) return;
    auto opened = plan.open();
    ASSERT_TRUE(opened.ok()) << plan.text(plan.diagnostic);
    Session& session = opened.value();
    std::vector<std::vector<double>> values;
    for (const auto& variable : sample_.variables)
      values.push_back(sample_.values_of(variable, sample_.random));
    run(plan, session, values);
    const auto count = static_cast<int>(values.size());
    const double step = sample_.step;
    for (int order = 0; order < orders_; ++order) {
      const int loss = order * (count + 1);
      std::vector<std::vector<double>> gradients;
      run(plan, session, values);
      for (int x = 0; x < count; ++x) gradients.push_back(read(session, loss + 1 + x));
      for (int x = 0; x < count; ++x) {
        auto& moved = values[static_cast<size_t>(x)];
        ASSERT_EQ(gradients[static_cast<size_t>(x)].size(), moved.size());
        for (size_t i = 0; i < moved.size(); ++i) {
          const double middle = moved[i];
          const auto loss_at = [&](double at) {
            moved[i] = at;
            run(plan, session, values);
            return read(session, loss)[0];
          };
          // Of fourth order.
          const double near = loss_at(middle + step) - loss_at(middle - step);
          const double far = loss_at(middle + 2 * step) - loss_at(middle - 2 * step);
          moved[i] = middle;
          const double expected = (8 * near - far) / (12 * step);
          const double found = gradients[static_cast<size_t>(x)][i];
          EXPECT_NEAR(found, expected, sample_.tolerance * (1 + std::abs(expected)))
              << "order " << order + 1 << ", x" << x << "[" << i << "] = " << middle;
        }
      }
    }
  }

 private:
  static bool HasFailure() { return testing::Test::HasFailure(); }

  static void run(SmallPlan& plan, Session& session,
                  const std::vector<std::vector<double>>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto span = session.input<double>(static_cast<int>(i)).value();
      ASSERT_EQ(span.size(), values[i].size());
      std::copy(values[i].begin(), values[i].end(), span.begin());
    }
    // So that each run draws the same random numbers.
    ASSERT_TRUE(session.reset_states().ok());
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  }
  static std::vector<double> read(Session& session, int output) {
    const auto span = session.output<double>(output).value();
    return {span.begin(), span.end()};
  }

  GradientSample& sample_;
  int orders_;
};

void check_samples(const OperatorDefinition& op, GradientCase draw, int samples) {
  Choices choices(1);
  for (int i = 0; i < kMostSamples && !testing::Test::HasFailure(); ++i) {
    if (i > 0 && i >= samples && !choices.miss_some()) break;
    SCOPED_TRACE("sample " + std::to_string(i));
    GradientSample sample(op, choices);
    draw(sample);
    SCOPED_TRACE(sample.model.model.graph().DebugString());
    Differences(sample, kSlowBuild && i >= samples ? 1 : 2).check();
  }
}

class GradientRule : public testing::TestWithParam<const OperatorDefinition*> {};

TEST_P(GradientRule, AgreesWithDifferences) {
  const GradientCase draw = gradient_case(*GetParam());
  ASSERT_NE(draw, nullptr) << "give the operator a case in gradient_cases.cpp";
  check_samples(*GetParam(), draw, kSamples);
}

INSTANTIATE_TEST_SUITE_P(Definitions, GradientRule, testing::ValuesIn(differentiable()),
                         [](const auto& info) { return std::string(info.param->name); });

class ExpandedGradient : public testing::TestWithParam<ExpandedCase> {};

TEST_P(ExpandedGradient, AgreesWithDifferences) {
  const auto& operators = definitions::OperatorRegistry::builtin();
  const auto* op = operators.find(GetParam().domain, GetParam().name);
  if (op == nullptr) {
    // Only its importer knows it.
    OperatorDefinition named;
    named.domain = GetParam().domain;
    named.name = GetParam().name;
    return check_samples(named, GetParam().draw, 0);
  }
  check_samples(*op, GetParam().draw, 0);
}

INSTANTIATE_TEST_SUITE_P(Operators, ExpandedGradient, testing::ValuesIn(expanded_gradient_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

/// All functions that recurrent layers name.
TEST(GradientRules, KnowTheActivationsOfLayers) {
  const auto* op = definitions::OperatorRegistry::builtin().find("", "RNN");
  ASSERT_NE(op, nullptr);
  for (const char* name : {"Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu",
                           "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus"}) {
    SCOPED_TRACE(name);
    Choices choices(1);
    GradientSample sample(*op, choices);
    const std::string x = sample.variable({3, 2, 2}), w = sample.variable({1, 2, 2}),
                      r = sample.variable({1, 2, 2});
    auto& node = sample.node({x, w, r}, 2);
    OnnxBuilder::set(node, "hidden_size", int64_t{2});
    OnnxBuilder::attribute(node, "activations", onnx::AttributeProto::STRINGS).add_strings(name);
    Differences(sample, 1).check();
  }
}

}  // namespace
}  // namespace intarsia::test
