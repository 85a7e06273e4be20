// SPDX-License-Identifier: Apache-2.0
//
// The operator of examples/group_norm on the data of PyTorch's tutorial, against the numbers that
// group normalisation gives, not against itself.
#include <gtest/gtest.h>

#include <cmath>

#include "examples/group_norm/group_norm.h"
#include "test/operators/own_library.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;
using Floats = std::vector<float>;

converter::ConvertOptions options() {
  return options_with<mydomain::Operators>();
}

/// The tutorial's model: opset 2 of mydomain, everything an input.
OnnxBuilder tutorial(float epsilon, int version = 2) {
  OnnxBuilder model(9);
  model.import_opset("mydomain", version);
  model.input("X", {3, 2, 1, 2});
  model.input("num_groups", {1});
  model.input("scale", {2});
  model.input("bias", {2});
  model.output("Y");
  auto& node = model.node("testgroupnorm", {"X", "num_groups", "scale", "bias"}, {"Y"});
  node.set_domain("mydomain");
  OnnxBuilder::set(node, "epsilon", epsilon);
  return model;
}

Status run(SmallPlan& plan, Session& session, float groups, Floats& y) {
  write(session, 0,
        {1.5410f, -0.2934f, -2.1788f, 0.5684f, -1.0845f, -1.3986f, 0.4033f, 0.8380f, -0.7193f,
         -0.4033f, -0.5966f, 0.1820f});
  write(session, 1, {groups});
  write(session, 2, {2, 1});
  write(session, 3, {1, 0});
  const Status status = session.run();
  if (status.ok()) y = read(session, 0);
  EXPECT_TRUE(status.ok() || groups != 2) << plan.text(session.diagnostic());
  return status;
}

void expect_tutorial(float epsilon, const Floats& expected) {
  SmallPlan plan(tutorial(epsilon), options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  Floats y;
  ASSERT_TRUE(run(plan, *session, 2, y).ok());
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-4) << i;
}

TEST(GroupNorm, CUS_01_TutorialWithEpsilonZero) {
  expect_tutorial(0, {3, -1, -1, 1, 3, -1, -1, 1, -1, 3, -1, 1});
}

TEST(GroupNorm, CUS_01_TutorialWithEpsilon1e5) {
  expect_tutorial(1e-5f, {3.0f, -1.0f, -1.0f, 1.0f, 2.9996f, -0.9996f, -0.9999f, 0.9999f, -0.9996f,
                          2.9996f, -1.0f, 1.0f});
}

/// Mean and variance go by group, scale and bias by channel, in either type.
template <class T>
void expect_groups(int groups, int channels) {
  constexpr int kSamples = 2, kArea = 3;
  constexpr float kEpsilon = 0.125F;
  OnnxBuilder model(9);
  const DataType type = data_type_of<T>;
  model.input("X", {kSamples, channels, kArea}, type);
  model.floats("num_groups", {1}, {static_cast<float>(groups)});
  for (const char* name : {"scale", "bias"}) model.input(name, {channels}, type);
  model.output("Y");
  auto& node = model.node("testgroupnorm", {"X", "num_groups", "scale", "bias"}, {"Y"});
  node.set_domain("mydomain");
  OnnxBuilder::set(node, "epsilon", kEpsilon);
  SmallPlan plan(model, options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  std::vector<double> operands[3];
  for (int i = 0; i < 3; ++i) {
    const auto span = session->input<T>(i).value();
    for (size_t k = 0; k < span.size(); ++k) {
      operands[i].push_back(static_cast<double>((k * k + k * 5 + static_cast<size_t>(i)) % 11) / 4);
      span[k] = static_cast<T>(operands[i].back());
    }
  }
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  const auto y = session->output<T>(0).value();
  const int per_group = channels / groups, count = per_group * kArea;
  for (int group = 0; group < kSamples * groups; ++group) {
    const double* x = operands[0].data() + group * count;
    double mean = 0, variance = 0;
    for (int i = 0; i < count; ++i) mean += x[i] / count;
    for (int i = 0; i < count; ++i) variance += (x[i] - mean) * (x[i] - mean) / count;
    for (int i = 0; i < count; ++i) {
      const auto channel = static_cast<size_t>(group % groups * per_group + i / kArea);
      const double normal = (x[i] - mean) / std::sqrt(variance + kEpsilon);
      EXPECT_NEAR(static_cast<double>(y[static_cast<size_t>(group * count + i)]),
                  normal * operands[1][channel] + operands[2][channel], 1e-4)
          << groups << " groups, group " << group << ", " << i;
    }
  }
}

TEST(GroupNorm, CUS_01_SeveralChannelsPerGroup) {
  for (const int groups : {1, 2, 3, 6}) {
    expect_groups<float>(groups, 6);
    expect_groups<double>(groups, 6);
  }
}

TEST(GroupNorm, CUS_02_EpsilonIsRequired) {
  OnnxBuilder model = tutorial(0);
  model.graph().mutable_node(0)->clear_attribute();
  EXPECT_EQ(
      conversion_error(model, options()),
      "node 'testgroupnorm1' (mydomain:testgroupnorm): attribute \"epsilon\" is required, but "
      "the node has none");
}

TEST(GroupNorm, CUS_07_ChannelsHaveToAgree) {
  OnnxBuilder model = tutorial(0);
  model.graph()
      .mutable_input(2)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(3);
  EXPECT_CONTAINS(conversion_error(model, options()),
                  "channels of input 2, axis 0: expected 2, found 3");
}

TEST(GroupNorm, CUS_07_ChannelsOfARunHaveToAgree) {
  OnnxBuilder model = tutorial(0);
  symbol(*model.graph().mutable_input(0), 1, "channels");
  symbol(*model.graph().mutable_input(2), 0, "scales");
  symbol(*model.graph().mutable_input(3), 0, "channels");
  converter::ConvertOptions ranged = options();
  ranged.dims["channels"] = ranged.dims["scales"] = converter::DimRange{1, 4};
  SmallPlan plan(model, ranged);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 4>{3, 2, 1, 2}).ok());
  ASSERT_TRUE(session->resize_input(2, std::array<int32_t, 1>{3}).ok());
  ASSERT_TRUE(session->resize_input(3, std::array<int32_t, 1>{2}).ok());
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "node 0 'testgroupnorm1' (mydomain:testgroupnorm): channels, operand 2, axis 0: "
            "expected 2, found 3");
  ASSERT_TRUE(session->resize_input(2, std::array<int32_t, 1>{2}).ok());
  Floats y;
  ASSERT_TRUE(run(plan, *session, 2, y).ok());
  EXPECT_NEAR(y[0], 3, 1e-4);
}

TEST(GroupNorm, CUS_07_InputsHaveToAgreeWhereNoOutputVaries) {
  OnnxBuilder model = tutorial(0);
  symbol(*model.graph().mutable_input(2), 0, "scales");
  converter::ConvertOptions ranged = options();
  ranged.dims["scales"] = converter::DimRange{1, 4};
  SmallPlan plan(model, ranged);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const int32_t scales : {1, 3, 2}) {
    ASSERT_TRUE(session->resize_input(2, std::array{scales}).ok());
    EXPECT_EQ(session->run().code() == Code::kWrongExtent, scales != 2) << scales;
  }
}

TEST(GroupNorm, CUS_13_GroupsThatDoNotDivideTheChannelsFail) {
  SmallPlan plan(tutorial(0), options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  Floats y;
  for (float groups : {0.0f, 3.0f, 1.5f, -1.0f, 1e30f, NAN}) {
    EXPECT_EQ(run(plan, *session, groups, y).code(), Code::kInvalidValue) << groups;
  }
  EXPECT_TRUE(run(plan, *session, 2, y).ok());
}

TEST(GroupNorm, CUS_16_TheExportersOpsetIsAccepted) {
  for (int version : {1, 2, 7}) {
    EXPECT_EQ(conversion_error(tutorial(0, version), options()), "") << version;
  }
}

}  // namespace
}  // namespace intarsia::test
