// SPDX-License-Identifier: Apache-2.0
//
// Sessions: typed views, binding, states, varying extents, branches, observers, threads.
#include <atomic>
#include <set>
#include <thread>

#include "intarsia/thread_team.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::DimRange;
using converter::OnnxBuilder;

TEST(Session, RunsAModelOfTwoNodes) {
  SmallPlan plan(mlp());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, {1, 2, 3});
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(read(*session, 0), (std::vector<float>{1.5f, 1.5f, 3, 0}));
  EXPECT_EQ(session->input_port(0).value().name, "x");
  EXPECT_EQ(session->output_port(0).value().name, "y");
  EXPECT_EQ(session->find_input("x").value(), 0);
}

TEST(Session, MovesAndCloses) {
  SmallPlan plan(mlp());
  auto opened = plan.open();
  Session session = std::move(opened.value());
  EXPECT_FALSE(opened->is_open());
  write(session, 0, {1, 2, 3});
  EXPECT_TRUE(session.run().ok());
  session.close();
  EXPECT_EQ(session.run().code(), Code::kInvalidArgument);
  EXPECT_EQ(session.input<float>(0).status().code(), Code::kInvalidArgument);
}

TEST(Session, ATemporaryResultGivesItsValueAway) {
  static_assert(
      std::is_same_v<decltype(std::declval<Session&>().input<float>(0).value()), std::span<float>>);
  static_assert(
      std::is_same_v<decltype(*std::declval<Session&>().input<float>(0)), std::span<float>>);
  SmallPlan plan(mlp());
  Session session = plan.open().value();
  for (float& x : session.input<float>(0).value()) x = 1;
  EXPECT_EQ(read(session, 0).size(), 4u);
  EXPECT_EQ(session.input<float>(0).value().back(), 1);
}

TEST(Session, UsesTheCallersBuffersInPlace) {
  SmallPlan plan(mlp());
  auto session = plan.open();
  const float x[3] = {1, 2, 3};
  alignas(16) float y[5] = {-1, -1, -1, -1, -7};
  ASSERT_TRUE(session->bind_input(0, x, sizeof(x)).ok());
  ASSERT_TRUE(session->bind_output(0, y, 4 * sizeof(float)).ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ((std::vector<float>(y, y + 5)), (std::vector<float>{1.5f, 1.5f, 3, 0, -7}));
  EXPECT_EQ(session->output<float>(0).value().data(), y);
  // Back to the arena: the caller's buffer is left alone.
  ASSERT_TRUE(session->bind_output(0, nullptr, 0).ok());
  y[0] = 42;
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(y[0], 42);
  EXPECT_EQ(read(*session, 0)[0], 1.5f);
}

TEST(Session, KeepsStatesBetweenRunsAndResetsThem) {
  OnnxBuilder model;
  model.input("x", {2});
  model.input("sum_in", {2});
  model.output("y");
  model.output("sum_out");
  model.node("Add", {"x", "sum_in"}, {"sum_out"});
  model.node("Neg", {"sum_out"}, {"y"});
  ConvertOptions options;
  options.states["sum_out"] = "sum_in";
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->input_count(), 1);
  EXPECT_EQ(session->output_count(), 1);
  EXPECT_EQ(session->state_count(), 1);
  for (float expected : {-1.0f, -2.0f, -3.0f}) {
    write(*session, 0, {1, 10});
    ASSERT_TRUE(session->run().ok());
    EXPECT_EQ(read(*session, 0)[0], expected);
    EXPECT_EQ(read(*session, 0)[1], 10 * expected);
  }
  EXPECT_EQ(session->state(0).value().tensor.as<float>()[0], 3);
  ASSERT_TRUE(session->reset_states());
  write(*session, 0, {1, 10});
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(read(*session, 0)[0], -1);
}

TEST(Session, TakesStatesThatAnotherHasLeft) {
  OnnxBuilder model;
  for (const char* name : {"x", "sum_in"}) symbol(model.input(name, {0}), 0, "n");
  model.output("y");
  model.output("sum_out");
  model.node("Add", {"x", "sum_in"}, {"sum_out"});
  model.node("Neg", {"sum_out"}, {"y"});
  ConvertOptions options;
  options.states["sum_out"] = "sum_in";
  options.dims["n"] = DimRange{2, 4};
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  const auto resized = [&](std::initializer_list<int32_t> extents, int index = 0) {
    return session->resize_state(index, {extents.begin(), extents.size()}).code();
  };
  EXPECT_EQ(resized({1}), Code::kWrongExtent);
  EXPECT_EQ(resized({5}), Code::kWrongExtent);
  EXPECT_CONTAINS(plan.text(session->diagnostic()), "state extent above its maximum");
  EXPECT_EQ(resized({2, 2}), Code::kWrongRank);
  EXPECT_EQ(resized({2}, 1), Code::kInvalidArgument);
  EXPECT_EQ(Session().resize_state(0, {}), Code::kInvalidArgument);
  const int32_t three[] = {3};
  ASSERT_TRUE(session->resize_input(0, three).ok());
  write(*session, 0, {1, 2, 3});
  EXPECT_EQ(session->run(), Code::kWrongExtent) << "the state is as long as it can be";
  ASSERT_EQ(resized({3}), Code::kOk);
  const TensorView state = session->state(0).value().tensor;
  ASSERT_EQ(state.count(), 3);
  for (int i = 0; i < 3; ++i) state.as<float>()[i] = static_cast<float>(10 * i);
  write(*session, 0, {1, 2, 3});
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0), (std::vector<float>{-1, -12, -23}));
}

/// y[n, 2 n] = Concat(x, x) along axis 1, n symbolic.
OnnxBuilder varying() {
  OnnxBuilder model;
  symbol(model.input("x", {0, 2}), 0, "n");
  model.output("y");
  auto& concat = model.node("Concat", {"x", "x"}, {"c"});
  OnnxBuilder::set(concat, "axis", int64_t{1});
  model.node("Relu", {"c"}, {"y"});
  return model;
}

TEST(Session, ExtentsVaryWithinTheirRange) {
  ConvertOptions options;
  options.dims["n"] = DimRange{2, 5};
  SmallPlan plan(varying(), options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (int32_t n : {5, 2, 3}) {
    ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 2>{n, 2}).ok());
    const auto x = session->input<float>(0).value();
    ASSERT_EQ(x.size(), static_cast<size_t>(2 * n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    const TensorView y = session->output_port(0).value().tensor;
    EXPECT_EQ(y.extents[0], n);
    EXPECT_EQ(y.extents[1], 4);
    EXPECT_EQ(read(*session, 0)[4 * static_cast<size_t>(n) - 1], static_cast<float>(2 * n));
  }
}

/// y = condition ? x + 1 : x * 2
OnnxBuilder branching() {
  OnnxBuilder model;
  model.input("condition", {}, DataType::kBool);
  model.input("x", {3});
  model.output("y");
  model.floats("one", {1}, {1});
  model.floats("two", {1}, {2});
  auto& node = model.node("If", {"condition"}, {"y"});
  const auto branch = [&](const char* attribute, const char* type, const char* operand) {
    auto& graph = *OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(attribute);
    OnnxBuilder::add_node(*graph.mutable_node(), type, {"x", operand}, {attribute});
    graph.add_output()->set_name(attribute);
  };
  branch("then_branch", "Add", "one");
  branch("else_branch", "Mul", "two");
  return model;
}

TEST(Session, TakesTheBranchThatTheConditionSelects) {
  SmallPlan plan(branching());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (bool condition : {true, false, true}) {
    session->input<bool>(0).value()[0] = condition;
    write(*session, 1, {1, 2, 3});
    ASSERT_TRUE(session->run().ok());
    EXPECT_EQ(read(*session, 0),
              condition ? (std::vector<float>{2, 3, 4}) : (std::vector<float>{2, 4, 6}));
  }
}

TEST(Session, BranchesHaveAsManyResultsAsTheirNode) {
  for (const bool decided : {true, false}) {
    OnnxBuilder model = branching();
    model.graph().mutable_node(0)->add_output("more");
    const char yes = 1;
    if (decided) {
      model.graph().mutable_input()->DeleteSubrange(0, 1);
      model.initializer("condition", DataType::kBool, {}, &yes, 1);
    }
    EXPECT_CONTAINS(conversion_error(model), "has 2 outputs, its branches have 1 and 1");
  }
}

TEST(Session, ATrainingDropoutIsNotTakenForAnIdentity) {
  OnnxBuilder model;
  model.input("x", {3});
  model.input("training", {}, DataType::kBool);
  model.output("y");
  model.floats("ratio", {}, {0.5f});
  model.node("Dropout", {"x", "ratio", "training"}, {"y"});
  SmallPlan plan(model);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  session->input<bool>(1).value()[0] = false;
  write(*session, 0, {1, 2, 3});
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(read(*session, 0), (std::vector<float>{1, 2, 3}));
  session->input<bool>(1).value()[0] = true;
  std::set<float> seen;
  for (int i = 0; i < 20; ++i) {
    write(*session, 0, {1, 2, 3});
    ASSERT_TRUE(session->run().ok());
    for (float y : read(*session, 0)) seen.insert(y);
  }
  EXPECT_EQ(seen, (std::set<float>{0, 2, 4, 6}));
}

/// y = Relu(c + depthwise(c)): the sum is computed by the convolution, whose input is not to be
/// overwritten while it is read.
TEST(Session, AConvolutionWhoseInputIsItsResidual) {
  OnnxBuilder model;
  model.input("x", {1, 16, 6, 6});
  model.output("y");
  std::vector<float> pointwise(16 * 16), spatial(16 * 9);
  for (size_t i = 0; i < pointwise.size(); ++i) pointwise[i] = static_cast<float>(i % 7) / 8;
  for (size_t i = 0; i < spatial.size(); ++i) spatial[i] = static_cast<float>(i % 5) / 8;
  model.floats("p", {16, 16, 1, 1}, pointwise);
  model.floats("s", {16, 1, 3, 3}, spatial);
  model.node("Conv", {"x", "p"}, {"c"});
  auto& conv = model.node("Conv", {"c", "s"}, {"d"});
  OnnxBuilder::set(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  OnnxBuilder::set(conv, "group", int64_t{16});
  model.node("Add", {"c", "d"}, {"e"});
  model.node("Relu", {"e"}, {"y"});
  std::vector<std::vector<float>> results;
  for (bool reference : {false, true}) {
    ConvertOptions options;
    const std::vector<converter::Pass> slow = converter::passes_without({"kernels"});
    if (reference) options.passes = slow;
    SmallPlan plan(model, options);
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    const auto x = session->input<float>(0).value();
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) / 16 - 0.25f;
    ASSERT_TRUE(session->run().ok());
    results.push_back(read(*session, 0));
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    // What the formula gives, element by element.
    const size_t channel = i / 36, row = i % 36 / 6, column = i % 6;
    const auto c = [&](size_t k, size_t r, size_t q) {
      float sum = 0;
      for (size_t from = 0; from < 16; ++from) {
        const size_t at = from * 36 + r * 6 + q;
        sum += pointwise[k * 16 + from] * (static_cast<float>(at % 11) / 16 - 0.25f);
      }
      return sum;
    };
    float expected = c(channel, row, column);
    for (size_t j = 0; j < 9; ++j) {
      const size_t r = row + j / 3 - 1, q = column + j % 3 - 1;
      if (r < 6 && q < 6) expected += spatial[channel * 9 + j] * c(channel, r, q);
    }
    ASSERT_NEAR(results[0][i], std::max(expected, 0.0f), 1e-4) << i;
    ASSERT_NEAR(results[1][i], std::max(expected, 0.0f), 1e-4) << i;
  }
}

TEST(Session, ShowsEveryNodeToTheObserver) {
  SmallPlan plan(branching());
  struct Log {
    std::vector<int> before, after;
  } log;
  const Observer observer{&log,
                          [](void* self, const KernelContext& c) {
                            static_cast<Log*>(self)->before.push_back(c.node());
                          },
                          [](void* self, const KernelContext& c) {
                            static_cast<Log*>(self)->after.push_back(c.node());
                          }};
  SessionOptions options;
  options.observer = &observer;
  auto session = plan.open(options);
  session->input<bool>(0).value()[0] = true;
  write(*session, 1, {1, 2, 3});
  ASSERT_TRUE(session->run().ok());
  // The If (node 0), then the node of its first branch, which ends first.
  EXPECT_EQ(log.before, (std::vector<int>{0, 1}));
  EXPECT_EQ(log.after, (std::vector<int>{1, 0}));
}

TEST(Session, ResultsAreBitEqualForAnyNumberOfThreads) {
  OnnxBuilder model;
  model.input("x", {1, 16, 23, 19});
  model.output("y");
  std::vector<float> weights(24 * 16 * 9);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(static_cast<int>(i * 2654435761u >> 20) % 200 - 100) / 100;
  }
  model.floats("w", {24, 16, 3, 3}, weights);
  OnnxBuilder::set(model.node("Conv", {"x", "w"}, {"c"}), "pads", std::vector<int64_t>{1, 1, 1, 1});
  model.node("Sigmoid", {"c"}, {"y"});
  ConvertOptions options;
  options.threads = 4;
  SmallPlan plan(model, options);
  std::vector<float> first;
  for (int threads : {1, 2, 3, 4}) {
    ThreadTeam team(threads);
    SessionOptions session_options;
    session_options.parallel = &team.parallel();
    auto session = plan.open(session_options);
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    const auto x = session->input<float>(0).value();
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 37) / 37 - 0.5f;
    ASSERT_TRUE(session->run().ok());
    const std::vector<float> y = read(*session, 0);
    if (first.empty()) first = y;
    EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0) << threads;
  }
}

TEST(Session, ASecondConcurrentRunIsBusy) {
  SmallPlan plan(mlp());
  struct Gate {
    std::atomic<bool> inside{false}, leave{false};
  } gate;
  const Observer observer{&gate,
                          [](void* self, const KernelContext&) {
                            auto& g = *static_cast<Gate*>(self);
                            g.inside = true;
                            while (!g.leave) std::this_thread::yield();
                          },
                          nullptr};
  SessionOptions options;
  options.observer = &observer;
  auto session = plan.open(options);
  write(*session, 0, {1, 2, 3});
  Status first = Code::kOperatorFailed;
  std::thread runner([&] { first = session->run(); });
  while (!gate.inside) std::this_thread::yield();
  EXPECT_EQ(session->run().code(), Code::kBusy);
  gate.leave = true;
  runner.join();
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(session->run().ok());
}

}  // namespace
}  // namespace intarsia::test
