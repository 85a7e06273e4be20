// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from model to run: what a run, a session, a conversion and a seed change in them,
// and what passes may not.
#include <set>

#include "converter/tool/compare.h"
#include "intarsia/services.h"
#include "test/converter/gradient_node.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::ConvertOptions;
using converter::OnnxBuilder;
using Reals = std::vector<float>;

constexpr int64_t kCount = 64;

/// Adds `y` = RandomUniform(), whose seed is left out if it is negative.
onnx::NodeProto& add_uniform(OnnxBuilder& model, const std::string& y, float seed = -1) {
  auto& node = model.node("RandomUniform", {}, {y});
  OnnxBuilder::set(node, "shape", std::vector<int64_t>{kCount});
  if (seed >= 0) OnnxBuilder::set(node, "seed", seed);
  model.output(y);
  return node;
}

/// Two nodes without a seed and two of one seed.
OnnxBuilder four_nodes() {
  OnnxBuilder model(22);
  add_uniform(model, "a");
  add_uniform(model, "b");
  add_uniform(model, "c", 5);
  add_uniform(model, "d", 5);
  return model;
}

/// What the outputs of a run are.
std::vector<Reals> run(Session& session, int entry = 0) {
  EXPECT_TRUE(session.run(entry).ok());
  std::vector<Reals> outputs;
  for (int i = 0; i < session.output_count(entry); ++i) {
    const auto span = session.output<float>(i, entry).value();
    outputs.emplace_back(span.begin(), span.end());
  }
  return outputs;
}
std::vector<Reals> first_run(const OnnxBuilder& model, const ConvertOptions& options = {}) {
  SmallPlan plan(model, options);
  auto session = plan.open();
  EXPECT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  return run(*session);
}

TEST(RandomNumbers, AreNewInEachRunAndTheSameInEachSession) {
  SmallPlan plan(four_nodes());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  std::vector<std::vector<Reals>> runs;
  std::set<Reals> seen;
  for (int i = 0; i < 4; ++i) {
    runs.push_back(run(*session));
    for (const Reals& output : runs.back()) seen.insert(output);
    EXPECT_EQ(runs.back()[2], runs.back()[3]);
  }
  // In each run three of the four, which two nodes of one seed share.
  EXPECT_EQ(seen.size(), 12U);
  tool::AlignedBytes arena(plan.arena().size());
  auto other = plan.open_in(arena.span());
  ASSERT_TRUE(other.ok());
  for (const auto& expected : runs) EXPECT_EQ(run(*other), expected);
  ASSERT_TRUE(session->reset_states().ok());
  for (const auto& expected : runs) EXPECT_EQ(run(*session), expected);
}

TEST(RandomNumbers, AreThoseOfTheSeedsOfModelConversionAndSession) {
  const std::vector<Reals> plain = first_run(four_nodes());
  ConvertOptions options;
  options.seed = 1;
  const std::vector<Reals> seeded = first_run(four_nodes(), options);
  EXPECT_NE(seeded[0], plain[0]);
  EXPECT_NE(seeded[1], plain[1]);
  EXPECT_EQ(seeded[2], plain[2]);  // the model's own seed
  // One seed's second node is not another one's first.
  EXPECT_NE(seeded[0], plain[1]);

  SmallPlan plan(four_nodes());
  std::set<Reals> seen(plain.begin(), plain.end());
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63}) {
    const Service services[] = {{kRandomSeedService, &seed}};
    SessionOptions choice;
    choice.services = services;
    auto session = plan.open(choice);
    ASSERT_TRUE(session.ok());
    const std::vector<Reals> found = run(*session);
    seen.insert(found.begin(), found.end());
    EXPECT_EQ(found[2], found[3]);
    seed += 10;  // read when the states begin anew
    EXPECT_NE(run(*session), found);
    ASSERT_TRUE(session->reset_states().ok());
    EXPECT_NE(run(*session), found);
    seed -= 10;
    ASSERT_TRUE(session->reset_states().ok());
    EXPECT_EQ(run(*session), found);
  }
  EXPECT_EQ(seen.size(), 12U);
}

TEST(RandomNumbers, AModelAlwaysBecomesTheSamePlan) {
  SmallPlan first(four_nodes()), second(four_nodes());
  ASSERT_EQ(first.plan().size(), second.plan().size());
  EXPECT_EQ(std::memcmp(first.plan().data(), second.plan().data(), first.plan().size()), 0);
  OnnxBuilder given = four_nodes();  // what the converter alone may choose
  OnnxBuilder::set(*given.graph().mutable_node(0), "stream", int64_t{1});
  EXPECT_TRUE(converter::contains(conversion_error(given), "the converter alone"));
}

TEST(RandomNumbers, PassesNeitherFoldNorMergeNorChangeThem) {
  OnnxBuilder model(22);
  model.input("x", {kCount});
  model.floats("ones", {kCount}, Reals(kCount, 1));
  for (const char* name : {"a", "b"}) {  // alike, of a constant
    model.node("RandomNormalLike", {"ones"}, {std::string(name) + "_drawn"});
    model.node("Add", {std::string(name) + "_drawn", "x"}, {name});
    model.output(name);
  }
  model.node("RandomNormalLike", {"ones"}, {"nobody"});
  model.node("RandomUniformLike", {"x"}, {"last"});
  model.output("last");
  ConvertOptions none;
  none.passes = {};
  SmallPlan imported(model, none), plan(model);
  EXPECT_EQ(tool::node_count(plan.plan()) + 1, tool::node_count(imported.plan()));
  auto expected = imported.open(), session = plan.open();
  ASSERT_TRUE(expected.ok() && session.ok());
  for (int i = 0; i < 3; ++i) {
    for (Session* each : {&*expected, &*session}) write(*each, 0, Reals(kCount, 0));
    const std::vector<Reals> found = run(*session);
    EXPECT_EQ(found, run(*expected));
    EXPECT_NE(found[0], found[1]);
  }
}

onnx::GraphProto& sub_graph(onnx::NodeProto& node, const char* name, const std::string& drawn) {
  onnx::GraphProto& graph =
      *OnnxBuilder::attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
  graph.set_name(name);
  auto& made = OnnxBuilder::add_node(*graph.mutable_node(), "RandomUniform", {}, {drawn});
  OnnxBuilder::set(made, "shape", std::vector<int64_t>{kCount});
  return graph;
}

TEST(RandomNumbers, AreNewInEachTripOfALoop) {
  OnnxBuilder model(22);
  const int64_t trips = 3;
  model.initializer("trips", DataType::kInt64, {}, &trips, sizeof(trips));
  auto& loop = model.node("Loop", {"trips", ""}, {"all"});
  onnx::GraphProto& body = sub_graph(loop, "body", "drawn");
  for (const char* name : {"trip", "go"}) body.add_input()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"on"});
  for (const char* name : {"on", "drawn"}) body.add_output()->set_name(name);
  model.output("all");
  for (const bool passes : {true, false}) {
    ConvertOptions options;
    if (!passes) options.passes = {};
    SmallPlan plan(model, options);
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    std::set<Reals> seen;
    std::vector<Reals> runs;
    for (int i = 0; i < 2; ++i) {
      runs.push_back(run(*session)[0]);
      ASSERT_EQ(runs.back().size(), static_cast<size_t>(3 * kCount));
      for (int64_t trip = 0; trip < 3; ++trip) {
        const auto begin = runs.back().begin() + trip * kCount;
        seen.insert(Reals(begin, begin + kCount));
      }
    }
    EXPECT_EQ(seen.size(), 6U);
    ASSERT_TRUE(session->reset_states().ok());
    EXPECT_EQ(run(*session)[0], runs[0]);
  }
}

TEST(RandomNumbers, OfABranchThatIsNotTakenAreNotDrawn) {
  OnnxBuilder model(22);
  model.input("condition", {}, DataType::kBool);
  auto& choice = model.node("If", {"condition"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    sub_graph(choice, name, name).add_output()->set_name(name);
  }
  model.output("y");
  SmallPlan plan(model);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const auto with = [&](bool condition) {
    session->input<bool>(0).value()[0] = condition;
    return run(*session)[0];
  };
  const Reals first = with(true), second = with(true);
  ASSERT_TRUE(session->reset_states().ok());
  EXPECT_EQ(with(true), first);
  const Reals other = with(false);
  EXPECT_NE(other, first);
  EXPECT_EQ(with(true), second);
}

TEST(RandomNumbers, EntryPointsDrawWhatTheyDrawAlone) {
  const Entries entries{{"first", four_nodes()}, {"second", four_nodes()}};
  SmallPlan plan(entries);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const std::vector<Reals> one = run(*session, 0), two = run(*session, 0);
  EXPECT_EQ(one, first_run(four_nodes()));
  EXPECT_EQ(run(*session, 1), one);
  EXPECT_EQ(run(*session, 1), two);
}

/// y = Dropout(x), dx = the gradient of the sum of y; `training` is an input.
OnnxBuilder training_model(bool with_mask) {
  OnnxBuilder model(22);
  model.import_opset("ai.onnx.preview.training", 1);
  model.input("x", {kCount});
  model.input("training", {}, DataType::kBool);
  model.floats("ratio", {1}, {0.75F});
  std::vector<std::string> outputs{"y"};
  if (with_mask) outputs.emplace_back("mask");
  model.node("Dropout", {"x", "ratio", "training"}, outputs);
  model.node("Mul", {"y", "y"}, {"square"});
  add_gradient(*model.graph().mutable_node(), {"x"}, {"dx"}, {"x"}, "square");
  for (const char* name : {"y", "dx"}) model.output(name);
  return model;
}

TEST(RandomNumbers, TheGradientOfADropoutDropsTheSame) {
  for (const bool with_mask : {false, true}) {
    SmallPlan plan(training_model(with_mask));
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    Reals x;
    for (int i = 0; i < kCount; ++i) x.push_back(static_cast<float>(i + 1) / 8);
    for (const bool training : {true, false, true}) {
      write(*session, 0, x);
      session->input<bool>(1).value()[0] = training;
      const std::vector<Reals> found = run(*session);
      int kept = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const float factor = found[0][i] / x[i];
        EXPECT_TRUE(factor == (training ? 4 : 1) || (training && factor == 0));
        EXPECT_FLOAT_EQ(found[1][i], 2 * found[0][i] * factor);
        kept += factor != 0 ? 1 : 0;
      }
      EXPECT_NEAR(kept, training ? 16 : 64, training ? 13 : 0);
    }
  }
}

}  // namespace
}  // namespace intarsia::test
