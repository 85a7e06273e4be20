// SPDX-License-Identifier: Apache-2.0
//
// Gradients through loops and branches: what they keep of a trip, and what is refused. That they
// are right: gradient_rules_test.cpp.
#include <array>
#include <cmath>

#include "test/converter/gradient_models.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

onnx::GraphProto& graph_of(onnx::NodeProto& node, const char* attribute) {
  auto& graph = *OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
  graph.set_name(attribute);
  return graph;
}

/// A Loop that carries `state`, from `initial` to `last`; the caller writes the nodes of the body,
/// whose results are `goes` and `next`.
onnx::GraphProto& add_loop(OnnxBuilder& model, const std::string& trips, const std::string& initial,
                           const std::string& last) {
  auto& node = model.node("Loop", {trips, "", initial}, {last});
  node.set_name("walk");
  auto& body = graph_of(node, "body");
  for (const char* name : {"trip", "go", "state"}) body.add_input()->set_name(name);
  for (const char* name : {"goes", "next"}) body.add_output()->set_name(name);
  return body;
}

void add_constant(OnnxBuilder& model, const std::string& name, int64_t value) {
  model.initializer(name, DataType::kInt64, {}, &value, sizeof(value));
}

/// h = tanh(h w + row) for each row of x; the number of rows varies if `steps` is 0.
OnnxBuilder scan_model(int64_t steps) {
  OnnxBuilder model = model_of({"h"}, {3});
  model.input("w", {3, 3});
  auto& x = model.input("x", {steps, 3});
  if (steps == 0) symbol(x, 0, "N");
  auto& node = model.node("Scan", {"h", "x"}, {"last"});
  OnnxBuilder::set(node, "num_scan_inputs", int64_t{1});
  auto& body = graph_of(node, "body");
  for (const char* name : {"state", "row"}) body.add_input()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "MatMul", {"state", "w"}, {"product"});
  OnnxBuilder::add_node(*body.mutable_node(), "Add", {"product", "row"}, {"sum"});
  OnnxBuilder::add_node(*body.mutable_node(), "Tanh", {"sum"}, {"next"});
  body.add_output()->set_name("next");
  return model;
}

std::vector<const converter::Node*> loops_of(const converter::Model& model) {
  std::vector<const converter::Node*> loops;
  for (const auto& node : model.graph->nodes()) {
    if (node->is("Loop")) loops.push_back(node.get());
  }
  return loops;
}

int64_t elements_of(const converter::Value& value) {
  int64_t count = 1;
  const auto shape = converter::shape_of(value);
  for (int axis = 0; axis < shape.rank; ++axis) count *= constant_value(shape[axis]);
  return count;
}

/// Nothing as large as what is scanned is carried from trip to trip, in gradients of both orders.
TEST(GradientOfLoop, TakesNoTripLongerThanTheBody) {
  OnnxBuilder model = scan_model(1000);
  const Names xs{"h", "w", "x"};
  add_gradient(*model.graph().mutable_node(), xs, {"dh", "dw", "dx"}, xs, "last");
  for (const char* name : {"dh", "dw", "dx"}) {
    model.node("ReduceSumSquare", {name}, {std::string(name) + "_square"});
    OnnxBuilder::set(*model.graph().mutable_node(model.graph().node_size() - 1), "keepdims",
                     int64_t{0});
  }
  model.node("Sum", {"dh_square", "dw_square", "dx_square"}, {"y"});
  model = with_gradient(model, xs, {"ddh", "ddw", "ddx"}, xs, "y");
  const converter::Model made = expanded_model(model);
  const auto loops = loops_of(made);
  ASSERT_EQ(loops.size(), 4U);  // forward, back, and both of them back
  for (const converter::Node* loop : loops) {
    const size_t carried = loop->inputs.size() - 2;
    for (size_t i = 0; i < carried; ++i) EXPECT_LE(elements_of(*loop->inputs[2 + i]), 9);
    // Neither the weights nor sums of their gradients are kept for every trip.
    for (size_t i = carried; i < loop->outputs.size(); ++i) {
      EXPECT_LE(elements_of(*loop->outputs[i]), 1000 * 3);
    }
  }
}

/// What is linear goes back without the values of the trips, be their extents known or not.
TEST(GradientOfLoop, CollectsNothingForExtentsAlone) {
  OnnxBuilder model = model_of({});
  symbol(model.input("h", {0}), 0, "N");
  add_constant(model, "trips", 3);
  auto& body = add_loop(model, "trips", "h", "y");
  OnnxBuilder::add_node(*body.mutable_node(), "ReduceSum", {"state"}, {"sum"});
  OnnxBuilder::add_node(*body.mutable_node(), "Add", {"state", "sum"}, {"next"});
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  const auto whole = with_gradient(model, {"h"}, {"dh"}, {"h"}, "y");
  const converter::Model made = expanded_model(whole);
  const auto loops = loops_of(made);
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_EQ(loops[0]->outputs.size(), 1U);
  converter::ConvertOptions options;
  options.dims["N"] = converter::DimRange{2, 2};
  // The sum of two elements is tripled each time.
  EXPECT_EQ(run(whole, {{1, 2}}, options).at(0), (Floats{27, 27}));
}

TEST(GradientOfLoop, OfAnyNumberOfTrips) {
  const auto model =
      with_gradient(scan_model(0), {"h", "w", "x"}, {"dh", "dw", "dx"}, {"h", "w", "x"}, "last");
  converter::ConvertOptions options;
  options.dims["N"] = converter::DimRange{1, 8};
  SmallPlan plan(model, options);
  Session session = plan.open().value();
  const Floats h{0.1F, -0.2F, 0.3F}, w{0.5F, 0, 0, 0, -0.5F, 0, 0, 0, 1};
  for (const int32_t trips : {1, 8, 3}) {
    ASSERT_TRUE(session.resize_input(2, std::array<int32_t, 2>{trips, 3}).ok());
    write(session, 0, h);
    write(session, 1, w);
    write(session, 2, Floats(static_cast<size_t>(3 * trips), 0.25F));
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    const Floats dh = read(session, 0), dx = read(session, 2);
    ASSERT_EQ(dx.size(), static_cast<size_t>(3 * trips));
    for (size_t i = 0; i < 3; ++i) {
      // w is diagonal: three chains of numbers.
      float value = h[i], slope = 1;
      std::vector<float> slopes;
      for (int32_t trip = 0; trip < trips; ++trip) {
        value = std::tanh(w[4 * i] * value + 0.25F);
        slopes.push_back(1 - value * value);
      }
      for (int32_t trip = trips - 1; trip >= 0; --trip) {
        slope *= slopes[static_cast<size_t>(trip)];
        EXPECT_NEAR(dx[static_cast<size_t>(3 * trip) + i], slope, 1e-6) << trip;
        slope *= w[4 * i];
      }
      EXPECT_NEAR(dh[i], slope, 1e-6);
    }
  }
}

TEST(GradientOfLoop, WithoutTrips) {
  OnnxBuilder model = model_of({"h", "a"});
  add_constant(model, "none", 0);
  auto& body = add_loop(model, "none", "h", "last");
  OnnxBuilder::add_node(*body.mutable_node(), "Mul", {"state", "a"}, {"next"});
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  // What is collected has a gradient, too.
  body.add_output()->set_name("next");
  model.graph().mutable_node(0)->add_output("all");
  model.node("ReduceSum", {"all"}, {"sum"});
  model.node("Add", {"last", "sum"}, {"y"});
  OnnxBuilder::set(*model.graph().mutable_node(1), "keepdims", int64_t{0});
  const auto found =
      run(with_gradient(model, {"h", "a"}, {"dh", "da"}, {"h", "a"}, "y"), {{3, 5}, {2, -1}});
  EXPECT_EQ(found.at(0), (Floats{1, 1}));
  EXPECT_EQ(found.at(1), (Floats{0, 0}));
}

TEST(GradientOfLoop, InALoop) {
  OnnxBuilder model = model_of({"h", "a"});
  add_constant(model, "two", 2);
  add_constant(model, "three", 3);
  auto& outer = add_loop(model, "two", "h", "y");
  auto& inner_node =
      OnnxBuilder::add_node(*outer.mutable_node(), "Loop", {"three", "", "state"}, {"next"});
  OnnxBuilder::add_node(*outer.mutable_node(), "Identity", {"go"}, {"goes"});
  auto& inner = graph_of(inner_node, "body");
  for (const char* name : {"trip_i", "go_i", "state_i"}) inner.add_input()->set_name(name);
  OnnxBuilder::add_node(*inner.mutable_node(), "Mul", {"state_i", "a"}, {"next_i"});
  OnnxBuilder::add_node(*inner.mutable_node(), "Identity", {"go_i"}, {"goes_i"});
  for (const char* name : {"goes_i", "next_i"}) inner.add_output()->set_name(name);
  // y = h a^6
  const auto found =
      run(with_gradient(model, {"h", "a"}, {"dh", "da"}, {"h", "a"}, "y"), {{3, 5}, {2, -1}});
  EXPECT_EQ(found.at(0), (Floats{64, 1}));
  EXPECT_EQ(found.at(1), (Floats{3 * 6 * 32, 5 * 6 * -1}));
}

/// The numbers that were drawn in a trip are those by which its gradient is multiplied.
TEST(GradientOfLoop, KeepsWhatWasDrawn) {
  OnnxBuilder model = model_of({"h", "a"}, {4});
  add_constant(model, "trips", 3);
  auto& body = add_loop(model, "trips", "h", "y");
  auto& noise = OnnxBuilder::add_node(*body.mutable_node(), "RandomUniform", {}, {"noise"});
  OnnxBuilder::set(noise, "shape", std::vector<int64_t>{4});
  OnnxBuilder::set(noise, "low", 1.0F);
  OnnxBuilder::set(noise, "high", 2.0F);
  OnnxBuilder::add_node(*body.mutable_node(), "Mul", {"state", "noise"}, {"product"});
  OnnxBuilder::add_node(*body.mutable_node(), "Add", {"product", "a"}, {"next"});
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  body.add_output()->set_name("noise");
  model.graph().mutable_node(0)->add_output("drawn");
  model.output("drawn");
  const auto found = run(with_gradient(model, {"h", "a"}, {"dh", "da"}, {"h", "a"}, "y"),
                         {{1, 2, -3, 4}, {1, 0, 2, 3}});
  for (size_t i = 0; i < 4; ++i) {
    const float first = found.at(0)[i], second = found.at(0)[4 + i], third = found.at(0)[8 + i];
    EXPECT_FLOAT_EQ(found.at(1)[i], third * second * first);
    EXPECT_FLOAT_EQ(found.at(2)[i], third * second + third + 1);
    EXPECT_NE(first, third);
  }
}

/// A loop that stops by its condition: state doubled while it is below a limit.
OnnxBuilder stopping() {
  OnnxBuilder model = model_of({"h"}, {1});
  model.input("limit", {1});
  auto& node = model.node("Loop", {"", "", "h"}, {"y"});
  node.set_name("walk");
  auto& body = graph_of(node, "body");
  for (const char* name : {"trip", "go", "state"}) body.add_input()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "Mul", {"state", "state"}, {"next"});
  OnnxBuilder::add_node(*body.mutable_node(), "Less", {"next", "limit"}, {"below"});
  OnnxBuilder::add_node(*body.mutable_node(), "Squeeze", {"below"}, {"goes"});
  for (const char* name : {"goes", "next"}) body.add_output()->set_name(name);
  return model;
}

TEST(GradientOfLoop, ThatStopsByItself) {
  const auto model = with_gradient(stopping(), {"h"}, {"dh"}, {"h"}, "y");
  EXPECT_CONTAINS(conversion_error(model),
                  "node 'walk' (Loop): the number of its trips is not known");
  EXPECT_CONTAINS(conversion_error(model), "declare it with --max-trips walk=N");
  converter::ConvertOptions options;
  options.max_trips["walk"] = 10;
  // 3, 9, 81: two trips, y = h^4.
  EXPECT_EQ(run(model, {{3}, {50}}, options).at(0), (Floats{4 * 27}));
  // 3, 9: one trip, y = h^2.
  EXPECT_EQ(run(model, {{3}, {5}}, options).at(0), (Floats{6}));
}

// -- What is refused
// ---------------------------------------------------------------------------------------

TEST(GradientOfLoop, OFK_10_RefusesValuesWhoseExtentsChange) {
  OnnxBuilder model = model_of({"h"});
  add_constant(model, "trips", 3);
  auto& body = add_loop(model, "trips", "h", "last");
  OnnxBuilder::set(
      OnnxBuilder::add_node(*body.mutable_node(), "Concat", {"state", "state"}, {"next"}), "axis",
      int64_t{0});
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  model.node("ReduceSum", {"last"}, {"y"});
  const std::string text = conversion_error(with_gradient(model, {"h"}, {"dh"}, {"h"}, "y"));
  EXPECT_CONTAINS(text,
                  "node 'walk' (Loop): its gradient: 'state' of each trip is needed, but its "
                  "extents");
  EXPECT_CONTAINS(text, "may change from trip to trip");
}

/// A loop whose trips drop elements of what they carry: each way goes with the draws of its trip.
TEST(GradientOfLoop, KeepsWhatDropoutHasDrawn) {
  constexpr int64_t kCount = 64;
  OnnxBuilder model = model_of({"h"}, {kCount});
  const char yes = 1;
  model.initializer("yes", DataType::kBool, {}, &yes, 1);
  model.floats("ratio", {}, {0.125F});
  add_constant(model, "trips", 3);
  auto& body = add_loop(model, "trips", "h", "y");
  OnnxBuilder::add_node(*body.mutable_node(), "Mul", {"state", "state"}, {"square"});
  OnnxBuilder::add_node(*body.mutable_node(), "Dropout", {"square", "ratio", "yes"}, {"once"});
  OnnxBuilder::add_node(*body.mutable_node(), "Dropout", {"once", "ratio", "yes"}, {"next"});
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  model.output("y");
  const OnnxBuilder whole = with_gradient(model, {"h"}, {"dh"}, {"h"}, "y");
  SmallPlan plan(whole);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  std::vector<Floats> found;
  for (int run = 0; run < 2; ++run) {
    Floats h;
    for (int64_t i = 0; i < kCount; ++i) h.push_back(1 + static_cast<float>(i) / 256);
    write(*session, 0, h);
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    const Floats y = read(*session, 0), dh = read(*session, 1);
    int dropped = 0;
    for (size_t i = 0; i < h.size(); ++i) {
      // y = c h^8, where c is what the draws make of it.
      EXPECT_NEAR(dh[i], 8 * y[i] / h[i], 1e-4F * (1 + y[i])) << i;
      const double drawn = y[i] / std::pow(h[i], 8);
      EXPECT_TRUE(y[i] == 0 || std::abs(drawn - std::pow(8.0 / 7, 14)) < 1e-3) << drawn;
      dropped += y[i] == 0 ? 1 : 0;
    }
    EXPECT_GT(dropped, 16);
    EXPECT_LT(dropped, 60);
    found.push_back(y);
  }
  EXPECT_NE(found[0], found[1]) << "each run draws anew";
}

TEST(GradientOfLoop, OFK_10_RefusesWhatWouldBeDrawnAnew) {
  OnnxBuilder drawing = model_of({"h"});
  add_constant(drawing, "trips", 3);
  auto& body = add_loop(drawing, "trips", "h", "y");
  OnnxBuilder::add_node(*body.mutable_node(), "Bernoulli", {"state"}, {"next"}).set_name("drop");
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  EXPECT_CONTAINS(conversion_error(with_gradient(drawing, {"h"}, {"dh"}, {"h"}, "y")),
                  "node 'walk' (Loop): its gradient: 'drop' (Bernoulli) in its body has other "
                  "results each time");
  OnnxBuilder branching = model_of({"h"});
  branching.input("c", {}, DataType::kBool);
  auto& node = branching.node("If", {"c"}, {"y"});
  node.set_name("either");
  auto& taken = graph_of(node, "then_branch");
  OnnxBuilder::add_node(*taken.mutable_node(), "Bernoulli", {"h"}, {"d"}).set_name("drop");
  taken.add_output()->set_name("d");
  auto& other = graph_of(node, "else_branch");
  OnnxBuilder::add_node(*other.mutable_node(), "Exp", {"h"}, {"e"});
  other.add_output()->set_name("e");
  EXPECT_CONTAINS(conversion_error(with_gradient(branching, {"h"}, {"dh"}, {"h"}, "y")),
                  "node 'either' (If): its gradient: 'drop' (Bernoulli) in a branch has other "
                  "results each time");
}

constexpr int64_t kDropped = 64;

/// y = what Dropout leaves of h h, multiplied by what it leaves of a row of noise, or exp(h).
OnnxBuilder dropping_branch(bool fixed) {
  OnnxBuilder model = model_of({});
  for (const char* name : {"h", "like"}) {
    auto& input = model.input(name, {fixed ? kDropped : 0});
    if (!fixed) symbol(input, 0, "N");
  }
  const char yes = 1;
  model.initializer("yes", DataType::kBool, {}, &yes, 1);
  model.floats("ratio", {}, {0.125F});
  model.input("c", {}, DataType::kBool);
  auto& node = model.node("If", {"c"}, {"y"});
  auto& taken = graph_of(node, "then_branch");
  OnnxBuilder::add_node(*taken.mutable_node(), "Mul", {"h", "h"}, {"square"});
  OnnxBuilder::add_node(*taken.mutable_node(), "Dropout", {"square", "ratio", "yes"}, {"once"});
  OnnxBuilder::add_node(*taken.mutable_node(), "RandomUniformLike", {"like"}, {"noise"});
  OnnxBuilder::add_node(*taken.mutable_node(), "Mul", {"once", "noise"}, {"noisy"});
  OnnxBuilder::add_node(*taken.mutable_node(), "Dropout", {"noisy", "ratio", "yes"}, {"twice"});
  taken.add_output()->set_name("twice");
  auto& other = graph_of(node, "else_branch");
  OnnxBuilder::add_node(*other.mutable_node(), "Exp", {"h"}, {"e"});
  other.add_output()->set_name("e");
  model.output("y");
  return model;
}

/// A branch that drops elements goes back with what was dropped, and with the noise that was drawn.
TEST(GradientOfBranch, KeepsWhatWasDrawn) {
  for (const bool fixed : {true, false}) {
    const OnnxBuilder whole =
        with_gradient(with_gradient(dropping_branch(fixed), {"h"}, {"dh"}, {"h"}, "y"), {"h"},
                      {"ddh"}, {"h"}, "dh");
    converter::ConvertOptions options;
    if (!fixed) options.dims["N"] = converter::DimRange{1, kDropped};
    SmallPlan plan(whole, options);
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    Floats h;
    for (int64_t i = 0; i < kDropped; ++i) h.push_back(1 + static_cast<float>(i) / 256);
    std::vector<Floats> found;
    for (const bool taken : {true, false, true}) {
      write(*session, 0, h);
      session->input<bool>(2).value()[0] = taken;
      ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
      const Floats y = read(*session, 0), dh = read(*session, 1), ddh = read(*session, 2);
      int dropped = 0;
      for (size_t i = 0; i < h.size(); ++i) {
        // y = c h^2, where c is what the draws make of it.
        EXPECT_NEAR(dh[i], taken ? 2 * y[i] / h[i] : y[i], 1e-5F) << i;
        EXPECT_NEAR(ddh[i], taken ? 2 * y[i] / h[i] / h[i] : y[i], 1e-5F) << i;
        dropped += y[i] == 0 ? 1 : 0;
      }
      EXPECT_EQ(dropped > 2, taken);
      EXPECT_LT(dropped, 50);
      if (taken) found.push_back(y);
    }
    EXPECT_NE(found[0], found[1]) << "each run draws anew";
  }
}

/// A copy of what draws would draw the same, as long as both run equally often.
TEST(GradientOfBranch, GoesBackWithTheDrawsOfTheLastRun) {
  converter::ConvertOptions options;
  options.gradients.push_back({"y", {"h"}});
  SmallPlan plan(dropping_branch(true), options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const int forward = session->find_entry("forward").value();
  const int backward = session->find_entry("backward").value();
  session->input<bool>(2, forward).value()[0] = true;
  const auto h = session->input<float>(0, forward).value();
  for (int runs = 1; runs <= 3; ++runs) {
    for (int i = 0; i < runs; ++i) {
      for (size_t k = 0; k < h.size(); ++k) h[k] = 1 + static_cast<float>(k) / 256;
      ASSERT_TRUE(session->run(forward)) << plan.text(session->diagnostic());
    }
    const auto y = session->output<float>(0, forward).value();
    const Floats kept(y.begin(), y.end());
    const auto seeds = session->input<float>(0, backward).value();
    std::fill(seeds.begin(), seeds.end(), 1.0F);
    ASSERT_TRUE(session->run(backward)) << plan.text(session->diagnostic());
    const auto dh = session->output<float>(0, backward).value();
    for (size_t k = 0; k < kept.size(); ++k) {
      EXPECT_NEAR(dh[k], 2 * kept[k] / (1 + static_cast<float>(k) / 256), 1e-5F)
          << runs << ' ' << k;
    }
  }
}

/// The nodes of a body that goes back are named as the model names them.
TEST(GradientOfLoop, OFK_10_NamesANodeWithoutARule) {
  OnnxBuilder model = model_of({"h"}, {1, 1, 2, 2});
  add_constant(model, "trips", 3);
  model.floats("whole", {1, 5}, {0, 0, 0, 1, 1});
  auto& body = add_loop(model, "trips", "h", "y");
  auto& node =
      OnnxBuilder::add_node(*body.mutable_node(), "MaxRoiPool", {"state", "whole"}, {"next"});
  node.set_name("region");
  OnnxBuilder::set(node, "pooled_shape", std::vector<int64_t>{2, 2});
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  EXPECT_CONTAINS(conversion_error(with_gradient(model, {"h"}, {"dh"}, {"h"}, "y")),
                  "node 'region' (MaxRoiPool): the operator has no gradient rule");
}

TEST(GradientOfLoop, IsTakenAtTheValuesThatItReads) {
  OnnxBuilder model = scan_model(2);
  model.input("other", {3});
  const auto error = conversion_error(with_gradient(model, {"other"}, {"d"}, {"h"}, "last"));
  EXPECT_CONTAINS(error,
                  "takes the gradient at other values than those it names, but a node with "
                  "sub-graphs lies between them and");
  EXPECT_CONTAINS(error, "let the inputs of the Gradient node be the values that xs and zs name");
}

}  // namespace
}  // namespace intarsia::test
