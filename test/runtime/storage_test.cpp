// SPDX-License-Identifier: Apache-2.0
//
// Which tensors share memory, and the figure that the arena is held against.
#include <cmath>

#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// z = -x - (-y), where x is [N,4] and y [M,4]: each operand broadcasts where its symbol is 1.
OnnxBuilder broadcast_of_two_symbols() {
  OnnxBuilder model;
  symbol(model.input("x", {8, 4}), 0, "N");
  symbol(model.input("y", {8, 4}), 0, "M");
  model.output("z");
  model.node("Neg", {"x"}, {"a"});
  model.node("Neg", {"y"}, {"b"});
  model.node("Sub", {"a", "b"}, {"z"});
  return model;
}

TEST(Storage, AnOperandThatMayBroadcastIsNotOverwritten) {
  converter::ConvertOptions options;
  options.dims["N"] = converter::DimRange{1, 8};
  options.dims["M"] = converter::DimRange{1, 8};
  SmallPlan plan(broadcast_of_two_symbols(), options);
  Session session = plan.open().value();
  const int32_t rows[][2] = {{1, 8}, {8, 1}, {8, 8}, {1, 1}};
  for (const auto& [n, m] : rows) {
    const int32_t x_extents[] = {n, 4}, y_extents[] = {m, 4};
    ASSERT_TRUE(session.resize_input(0, x_extents).ok());
    ASSERT_TRUE(session.resize_input(1, y_extents).ok());
    std::vector<float> x, y;
    for (int i = 0; i < n * 4; ++i) x.push_back(static_cast<float>(i));
    for (int i = 0; i < m * 4; ++i) y.push_back(static_cast<float>(100 + i));
    write(session, 0, x);
    write(session, 1, y);
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    const std::vector<float> z = read(session, 0);
    ASSERT_EQ(z.size(), static_cast<size_t>(std::max(n, m) * 4));
    for (size_t i = 0; i < z.size(); ++i) {
      EXPECT_EQ(z[i], y[m == 1 ? i % 4 : i] - x[n == 1 ? i % 4 : i]) << n << " " << m << " " << i;
    }
  }
}

/// y = c ? -a : |b|, where a and b are computed outside: both are live until one branch is chosen.
OnnxBuilder branches_over_captured_values() {
  OnnxBuilder model;
  model.input("c", {1}, DataType::kBool);
  model.input("x", {1, 4});
  model.output("y");
  model.node("Exp", {"x"}, {"a"});
  model.node("Sqrt", {"x"}, {"b"});
  auto& choice = model.node("If", {"c"}, {"y"});
  const auto branch = [&](const char* name, const char* type, const char* from) {
    auto& graph = *OnnxBuilder::attribute(choice, name, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(name);
    const std::string result = std::string(name) + "_result";
    OnnxBuilder::add_node(*graph.mutable_node(), type, {from}, {result});
    graph.add_output()->set_name(result);
  };
  branch("then_branch", "Neg", "a");
  branch("else_branch", "Abs", "b");
  return model;
}

TEST(Storage, BothBranchesDoNotOverwriteWhatTheyReadFromOutside) {
  SmallPlan plan(branches_over_captured_values());
  Session session = plan.open().value();
  const std::vector<float> x = {0, 1, 4, 9};
  for (bool chosen : {true, false}) {
    session.input<bool>(0).value()[0] = chosen;
    write(session, 1, x);
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    const std::vector<float> y = read(session, 0);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(y[i], chosen ? -std::exp(x[i]) : std::sqrt(x[i]), 1e-3 * std::exp(x[i]));
    }
  }
}

/// The extents of an Unsqueeze whose axes come at run time are known by their bounds alone, so its
/// result does not lie where its input lies.
/// One branch shows an input of the model, which nodes may not write; the other computes.
TEST(Storage, ABranchThatShowsAnInputHasMemoryOfItsOwn) {
  OnnxBuilder model;
  model.input("c", {}, DataType::kBool);
  model.input("x", {2, 3});
  model.output("y");
  auto& choice = model.node("If", {"c"}, {"z"});
  const auto branch = [&](const char* name, const char* type) {
    auto& graph = *OnnxBuilder::attribute(choice, name, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(name);
    OnnxBuilder::add_node(*graph.mutable_node(), type, {"x"}, {name});
    graph.add_output()->set_name(name);
  };
  branch("then_branch", "Flatten");
  branch("else_branch", "Exp");
  model.node("Neg", {"z"}, {"y"});
  SmallPlan plan(model);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (bool shown : {true, false}) {
    session->input<bool>(0).value()[0] = shown;
    write(*session, 1, std::vector<float>(6, 2));
    ASSERT_TRUE(session->run().ok());
    EXPECT_FLOAT_EQ(read(*session, 0)[5], shown ? -2.0f : -std::exp(2.0f));
  }
}

TEST(Storage, AViewWhoseExtentsDependOnValuesHasMemoryOfItsOwn) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  model.input("axes", {1}, DataType::kInt64);
  model.output("y");
  model.node("Neg", {"x"}, {"a"});
  model.node("Unsqueeze", {"a", "axes"}, {"y"});
  SmallPlan plan(model);
  auto opened = plan.open();
  ASSERT_TRUE(opened.ok()) << plan.text(plan.diagnostic);
  Session session = std::move(opened.value());
  write(session, 0, {1, 2, 3, 4, 5, 6});
  session.input<int64_t>(1).value()[0] = 1;
  ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  EXPECT_EQ(read(session, 0), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
}

/// The branches' results differ in extents, the plan has one tensor for both: a node that needs
/// workspace must have it for the larger one.
TEST(Storage, TheResultOfABranchHasTheExtentsOfTheIf) {
  OnnxBuilder model;
  model.input("c", {1}, DataType::kBool);
  model.input("x", {6, 4});
  model.output("y");
  const int64_t one = 1;
  model.initializer("k", DataType::kInt64, {1}, &one, sizeof(one));
  auto& choice = model.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(choice, name, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(name);
    const bool first = name[0] == 't';
    auto& node = OnnxBuilder::add_node(
        *graph.mutable_node(), first ? "TopK" : "Neg",
        first ? std::vector<std::string>{"x", "k"} : std::vector<std::string>{"x"},
        first ? std::vector<std::string>{"top", "at"} : std::vector<std::string>{"negative"});
    static_cast<void>(node);
    graph.add_output()->set_name(first ? "top" : "negative");
  }
  SmallPlan plan(model);
  auto opened = plan.open();
  ASSERT_TRUE(opened.ok()) << plan.text(plan.diagnostic);
  Session session = std::move(opened.value());
  std::vector<float> x(24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (bool chosen : {true, false}) {
    session.input<bool>(0).value()[0] = chosen;
    write(session, 1, x);
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    EXPECT_EQ(read(session, 0).size(), chosen ? 6u : 24u);
    EXPECT_EQ(read(session, 0).back(), chosen ? 23.0f : -23.0f);
  }
}

/// The other branch has more channels than the convolution: its weights are packed by their own
/// extents, not by those of the tensor for both.
void expect_convolution_in_a_branch(const char* op) {
  SCOPED_TRACE(op);
  constexpr int kIn = 2, kOut = 2, kTaps = 3, kLength = 5, kMore = 7;
  OnnxBuilder model;
  model.input("c", {1}, DataType::kBool);
  model.input("x", {1, kIn, kLength});
  model.input("other", {1, kMore, 9});
  model.output("y");
  std::vector<float> w(kIn * kOut * kTaps);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i) - 4;
  model.initializer("w", DataType::kFloat, {2, 2, kTaps}, w.data(), w.size() * sizeof(float));
  auto& choice = model.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(choice, name, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(name);
    const bool first = name[0] == 't';
    OnnxBuilder::add_node(
        *graph.mutable_node(), first ? op : "Neg",
        first ? std::vector<std::string>{"x", "w"} : std::vector<std::string>{"other"}, {name});
    graph.add_output()->set_name(name);
  }
  SmallPlan plan(model);
  auto opened = plan.open();
  ASSERT_TRUE(opened.ok()) << plan.text(plan.diagnostic);
  Session session = std::move(opened.value());
  std::vector<float> x(kIn * kLength);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 7);
  session.input<bool>(0).value()[0] = true;
  write(session, 1, x);
  write(session, 2, std::vector<float>(kMore * 9, 1));
  ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  // Conv: y[o][t] = sum of x[i][t + k] w[o][i][k]; ConvTranspose: y[o][t + k] += x[i][t]
  // w[i][o][k].
  const bool transposed = std::string_view(op) == "ConvTranspose";
  const int length = transposed ? kLength + kTaps - 1 : kLength - kTaps + 1;
  std::vector<float> expected(static_cast<size_t>(kOut * length));
  for (int o = 0; o < kOut; ++o) {
    for (int i = 0; i < kIn; ++i) {
      for (int t = 0; t < (transposed ? kLength : length); ++t) {
        for (int k = 0; k < kTaps; ++k) {
          const int row = transposed ? i * kOut + o : o * kIn + i;
          const float weight = w[static_cast<size_t>(row * kTaps + k)];
          expected[static_cast<size_t>(o * length + t + (transposed ? k : 0))] +=
              weight * x[static_cast<size_t>(i * kLength + t + (transposed ? 0 : k))];
        }
      }
    }
  }
  EXPECT_EQ(read(session, 0), expected);
}

TEST(Storage, ConvolutionsInBranchesOfOtherExtents) {
  expect_convolution_in_a_branch("Conv");
  expect_convolution_in_a_branch("ConvTranspose");
}

TEST(Storage, OperandsOfOneSymbolAreOverwritten) {
  OnnxBuilder model;
  symbol(model.input("x", {8, 1000}), 0, "N");
  symbol(model.input("y", {8, 1000}), 0, "N");
  model.output("z");
  model.node("Neg", {"x"}, {"a"});
  model.node("Neg", {"y"}, {"b"});
  model.node("Sub", {"a", "b"}, {"c"});
  model.node("Exp", {"c"}, {"z"});
  converter::ConvertOptions options;
  options.dims["N"] = converter::DimRange{1, 8};
  const SmallPlan plan(model, options);
  // x, y, and the results that take turns in two more buffers.
  EXPECT_LE(plan.conversion.plan.summary.lower_bound_bytes, 4u * 8 * 1000 * sizeof(float));
}

/// A chain of element-wise nodes needs its input and one buffer: every result lies in the last.
TEST(Storage, TheLowerBoundCountsWhatSharesMemoryOnce) {
  OnnxBuilder model;
  model.input("x", {1, 1000});
  model.output("y");
  model.node("Exp", {"x"}, {"a"});
  model.node("Sqrt", {"a"}, {"b"});
  model.node("Neg", {"b"}, {"c"});
  model.node("Tanh", {"c"}, {"y"});
  const SmallPlan plan(model);
  const auto& summary = plan.conversion.plan.summary;
  EXPECT_EQ(summary.lower_bound_bytes, 2u * 1000 * sizeof(float));
  EXPECT_GE(summary.arena_bytes - summary.metadata_bytes, summary.lower_bound_bytes);
}

}  // namespace
}  // namespace intarsia::test
