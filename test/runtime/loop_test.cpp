// SPDX-License-Identifier: Apache-2.0
//
// Loop and Scan from model to run: what is carried and collected, when a loop ends, what its memory
// shares, and what is refused. Each model runs with all passes and with none.
#include <cmath>

#include "core/operators/control/control.h"
#include "core/plan_structure.h"
#include "test/runtime/both_ways.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;

/// The body of a loop, whose first result is the condition, or a branch.
class Body {
 public:
  Body(onnx::NodeProto& node, const std::vector<std::string>& inputs,
       const std::vector<std::string>& outputs, const char* attribute = "body")
      : graph_(*OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g()) {
    graph_.set_name(attribute);
    for (const std::string& name : inputs) graph_.add_input()->set_name(name);
    for (const std::string& name : outputs) graph_.add_output()->set_name(name);
  }
  onnx::NodeProto& node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    return OnnxBuilder::add_node(*graph_.mutable_node(), type, inputs, outputs);
  }

 private:
  onnx::GraphProto& graph_;
};

/// A loop with inputs `trips` (int64) and `go` (bool) of the model.
onnx::NodeProto& loop(OnnxBuilder& model, const std::vector<std::string>& initial,
                      const std::vector<std::string>& outputs) {
  model.input("trips", {}, DataType::kInt64);
  model.input("go", {}, DataType::kBool);
  std::vector<std::string> inputs{"trips", "go"};
  inputs.insert(inputs.end(), initial.begin(), initial.end());
  for (const std::string& name : outputs) model.output(name);
  auto& node = model.node("Loop", inputs, outputs);
  node.set_name("Loop1");
  return node;
}

ConvertOptions without_passes(ConvertOptions options = {}) {
  options.passes = {};
  return options;
}

/// Runs with these trips and this condition; the last two inputs of the model.
Status run(Session& session, int64_t trips, bool go = true) {
  const int first = session.input_count() - 2;
  session.input<int64_t>(first).value()[0] = trips;
  session.input<bool>(first + 1).value()[0] = go;
  return session.run();
}

ConvertOptions trips_at_most(int64_t trips) {
  ConvertOptions options;
  options.max_trips["Loop1"] = trips;
  return options;
}

/// sum += x while sum < 10 and trips are left; all sums are collected.
OnnxBuilder running_sum() {
  OnnxBuilder model;
  model.input("x", {2});
  model.input("start", {2});
  model.floats("ten", {}, {10});
  auto& node = loop(model, {"start"}, {"sum", "sums"});
  Body body(node, {"trip", "again", "old"}, {"more", "new", "seen"});
  body.node("Add", {"old", "x"}, {"new"});
  body.node("Mul", {"new", "new"}, {"seen"});
  OnnxBuilder::set(body.node("ReduceMax", {"new"}, {"most"}), "keepdims", int64_t{0});
  body.node("Less", {"most", "ten"}, {"more"});
  return model;
}

TEST(Loop, CarriesCollectsAndEndsByCountOrCondition) {
  both(running_sum(), trips_at_most(6), [](SmallPlan&, Session& session) {
    struct Case {
      int64_t trips;
      bool go;
      int64_t expected;
    };
    // 3 trips are counted; with 100 the sum passes 10 after 5; none at all; none by the condition.
    for (const Case& each : {Case{3, true, 3}, Case{100, true, 5}, Case{0, true, 0},
                             Case{-7, true, 0}, Case{4, false, 0}, Case{1, true, 1}}) {
      write(session, 0, {1, 2});
      write(session, 1, {0, 1});
      ASSERT_TRUE(run(session, each.trips, each.go).ok());
      std::vector<float> sum{0, 1}, sums;
      for (int64_t trip = 0; trip < each.expected; ++trip) {
        sum = {sum[0] + 1, sum[1] + 2};
        sums.insert(sums.end(), {sum[0] * sum[0], sum[1] * sum[1]});
      }
      EXPECT_EQ(read(session, 0), sum) << each.trips;
      EXPECT_EQ(read(session, 1), sums) << each.trips;
      const Port all = session.output_port(1).value();
      EXPECT_EQ(all.tensor.extents[0], each.expected);
      EXPECT_EQ(all.tensor.extents[1], 2);
    }
  });
}

TEST(Loop, MoreTripsThanPlannedAreAnErrorAfterWhichTheSessionGoesOn) {
  both(running_sum(), trips_at_most(2), [](SmallPlan& plan, Session& session) {
    write(session, 0, {0, 0});
    write(session, 1, {0, 0});
    ASSERT_EQ(run(session, 3).code(), Code::kWrongExtent);
    EXPECT_CONTAINS(plan.text(session.diagnostic()),
                    "trips of a loop whose results are collected, operand");
    EXPECT_CONTAINS(plan.text(session.diagnostic()), "expected 2, found 3");
    EXPECT_TRUE(run(session, 2).ok());
  });
}

TEST(Loop, WithoutABoundTheConversionNamesTheOption) {
  EXPECT_CONTAINS(conversion_error(running_sum()), "declare it with --max-trips Loop1=N");
}

TEST(Loop, EndlessOnesEndWithTheBudget) {
  OnnxBuilder model;
  model.input("x", {1});
  auto& node = loop(model, {"x"}, {"y"});
  Body body(node, {"trip", "again", "old"}, {"again_", "new"});
  body.node("Identity", {"again"}, {"again_"});
  body.node("Add", {"old", "old"}, {"new"});
  for (const ConvertOptions& options : {ConvertOptions(), without_passes()}) {
    SmallPlan plan(model, options);
    SessionOptions limits;
    limits.max_steps = 1000;
    auto session = plan.open(limits);
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    write(*session, 0, {1});
    ASSERT_EQ(run(*session, INT64_MAX).code(), Code::kTooManySteps);
    EXPECT_CONTAINS(plan.text(session->diagnostic()),
                    "(Loop): nodes of sub-graphs in one run: expected 1000, found 100");
    EXPECT_CONTAINS(plan.text(session->diagnostic()), "raise SessionOptions::max_steps");
    // The budget is a run's own.
    write(*session, 0, {1});
    ASSERT_TRUE(run(*session, 10).ok());
    EXPECT_EQ(read(*session, 0), std::vector<float>{1024});
  }
}

/// Values that change places are read before any of them is overwritten.
TEST(Loop, CarriedValuesChangePlaces) {
  OnnxBuilder model;
  model.input("a", {2});
  model.input("b", {2});
  auto& node = loop(model, {"a", "b", "a"}, {"x", "y", "z"});
  Body body(node, {"trip", "again", "p", "q", "r"}, {"again", "q", "r", "s"});
  body.node("Add", {"p", "q"}, {"s"});
  both(model, {}, [](SmallPlan&, Session& session) {
    for (int64_t trips : {0, 1, 2, 5}) {
      std::vector<float> p{1, 2}, q{10, 20}, r = p;
      write(session, 0, p);
      write(session, 1, q);
      ASSERT_TRUE(run(session, trips).ok());
      for (int64_t trip = 0; trip < trips; ++trip) {
        const std::vector<float> sum{p[0] + q[0], p[1] + q[1]};
        p = q;
        q = r;
        r = sum;
      }
      EXPECT_EQ(read(session, 0), p) << trips;
      EXPECT_EQ(read(session, 1), q) << trips;
      EXPECT_EQ(read(session, 2), r) << trips;
    }
  });
}

/// A value that grows from trip to trip: its bound follows from what a trip adds.
TEST(Loop, CarriedValuesGrow) {
  OnnxBuilder model;
  model.input("x", {1, 2});
  auto& node = loop(model, {"x"}, {"y"});
  Body body(node, {"trip", "again", "old"}, {"again", "new"});
  body.node("Mul", {"x", "x"}, {"next"});
  OnnxBuilder::set(body.node("Concat", {"old", "next"}, {"new"}), "axis", int64_t{0});
  both(model, trips_at_most(4), [](SmallPlan& plan, Session& session) {
    EXPECT_EQ(plan.conversion.entries[0].outputs[0].extents, (std::vector<int64_t>{5, 2}));
    for (int64_t trips : {4, 0, 2}) {
      write(session, 0, {3, 4});
      ASSERT_TRUE(run(session, trips).ok());
      std::vector<float> expected{3, 4};
      for (int64_t trip = 0; trip < trips; ++trip) expected.insert(expected.end(), {9, 16});
      EXPECT_EQ(read(session, 0), expected);
    }
    EXPECT_EQ(run(session, 5).code(), Code::kWrongExtent);
  });
}

/// The inner loop reads the outer one's values, and a value from outside of both to the last trip.
TEST(Loop, LoopsNest) {
  OnnxBuilder model;
  model.input("x", {3});
  model.node("Exp", {"x"}, {"far"});
  auto& node = loop(model, {"x"}, {"y", "rows"});
  Body outer(node, {"i", "again", "old"}, {"again", "new", "row"});
  outer.node("Mul", {"old", "old"}, {"square"});
  auto& inside = outer.node("Loop", {"trips", "", "square"}, {"new", "row"});
  inside.set_name("inner");
  Body inner(inside, {"j", "go_on", "u"}, {"go_on", "v", "w"});
  inner.node("Add", {"u", "far"}, {"t"});
  inner.node("Sub", {"t", "old"}, {"v"});
  inner.node("Add", {"v", "square"}, {"w"});
  ConvertOptions options;
  options.max_trips["Loop1"] = 3;
  options.max_trips["inner"] = 3;
  both(model, options, [](SmallPlan&, Session& session) {
    for (int64_t trips : {2, 0, 3}) {
      const std::vector<float> x{0, 0.5f, -1};
      write(session, 0, x);
      ASSERT_TRUE(run(session, trips).ok());
      std::vector<float> rows;
      std::vector<std::vector<float>> all(static_cast<size_t>(trips * trips),
                                          std::vector<float>(3));
      std::vector<float> result = x;
      for (size_t k = 0; k < 3; ++k) {
        float old = x[k];
        for (int64_t i = 0; i < trips; ++i) {
          const float square = old * old;
          float u = square;
          for (int64_t j = 0; j < trips; ++j) {
            u = (u + std::exp(x[k])) - old;
            all[static_cast<size_t>(i * trips + j)][k] = u + square;
          }
          old = u;
        }
        result[k] = old;
      }
      for (const auto& row : all) rows.insert(rows.end(), row.begin(), row.end());
      const std::vector<float> y = read(session, 0), collected = read(session, 1);
      ASSERT_EQ(collected.size(), rows.size());
      for (size_t k = 0; k < y.size(); ++k) {
        EXPECT_NEAR(y[k], result[k], 1e-5 * (1 + std::abs(result[k])));
      }
      for (size_t k = 0; k < rows.size(); ++k) {
        EXPECT_NEAR(collected[k], rows[k], 1e-5 * (1 + std::abs(rows[k])));
      }
    }
  });
}

/// What an inner loop begins with is made of what the outer one carries, and what it ends with is
/// carried next: the three may not be one tensor.
TEST(Loop, WhatAnInnerLoopBeginsWithOverwritesNothingThatIsRead) {
  OnnxBuilder model;
  model.input("x", {1, 2});
  model.floats("turn", {2, 2}, {0, 1, -1, 0});
  auto& node = loop(model, {"x"}, {"y"});
  Body outer(node, {"i", "again", "old"}, {"again", "new"});
  outer.node("MatMul", {"old", "turn"}, {"turned"});
  auto& inside = outer.node("Loop", {"trips", "", "turned"}, {"new"});
  Body inner(inside, {"j", "go_on", "u"}, {"go_on", "v"});
  inner.node("Add", {"u", "x"}, {"v"});
  both(model, {}, [](SmallPlan&, Session& session) {
    write(session, 0, {1, 2});
    ASSERT_TRUE(run(session, 2).ok());
    // (1, 2) turns to (-2, 1), with twice x added it is (0, 5); then (-5, 0) and (-3, 4).
    EXPECT_EQ(read(session, 0), (std::vector<float>{-3, 4}));
  });
}

/// How many operands of the plan's loop are absent: what needs no copy.
TEST(Loop, SharesMemoryWhereThatIsLegal) {
  const auto absent = [](const OnnxBuilder& model, const ConvertOptions& options) {
    SmallPlan plan(model, options);
    PlanHeader header;
    std::memcpy(&header, plan.plan().data(), sizeof(header));
    const auto* root =
        flatbuffers::GetRoot<plan::Plan>(plan.plan().data() + header.structure_offset);
    std::vector<int> found;
    for (uint32_t n = 0; n < root->nodes()->size(); ++n) {
      const plan::Node* node = root->nodes()->Get(n);
      const LoopOperands at(node->inputs(), node->outputs());
      if (root->operators()->Get(n)->str() != "Loop") continue;
      const auto lacks = [&](int operand) {
        const uint32_t index = first_operand(*root, n) + static_cast<uint32_t>(operand);
        return root->operands()->Get(index) == kNone;
      };
      for (int i = 0; i < at.carried; ++i) {
        found.push_back((lacks(at.initial(i)) ? 1 : 0) + (lacks(at.result(i)) ? 2 : 0));
      }
    }
    return found;
  };
  enum Kind { kOneNode, kReadEarly, kReadLate };
  const auto model = [](const char* first, Kind kind) {
    OnnxBuilder builder;
    builder.input("x", {8});
    builder.floats("most", {}, {100});
    builder.node("Exp", {"x"}, {"made"});
    auto& node = loop(builder, {first}, {"y"});
    Body body(node, {"trip", "again", "old"}, {kind == kReadLate ? "small" : "again", "new"});
    if (kind == kOneNode) {
      body.node("Add", {"old", "x"}, {"new"});
      return builder;
    }
    body.node("Add", {"old", "x"}, {"sum"});
    body.node("Sin", {"sum"}, {"wave"});
    body.node("Mul", {"wave", "old"}, {"product"});
    body.node("Softmax", {"product"}, {"new"});
    if (kind == kReadLate) {
      body.node("Sub", {"new", "old"}, {"step"});
      OnnxBuilder::set(body.node("ReduceSum", {"step"}, {"total"}), "keepdims", int64_t{0});
      body.node("Less", {"total", "most"}, {"small"});
    }
    return builder;
  };
  // 1: the initial value is made in place, 2: the result is.
  EXPECT_EQ(absent(model("made", kOneNode), {}), std::vector<int>{3});
  EXPECT_EQ(absent(model("made", kReadEarly), {}), std::vector<int>{3});
  EXPECT_EQ(absent(model("made", kReadLate), {}), std::vector<int>{1});
  EXPECT_EQ(absent(model("x", kReadEarly), {}), std::vector<int>{2});  // no input is written
  EXPECT_EQ(absent(model("made", kReadEarly), without_passes()), std::vector<int>{0});
}

/// Views of a value that a loop writes over, read after it has: in the body, and behind the loop.
TEST(Loop, ViewsKeepWhatTheyShow) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  const int64_t six[1] = {6};
  model.initializer("six", DataType::kInt64, {1}, six, sizeof(six));
  model.node("Neg", {"x"}, {"made"});
  model.node("Reshape", {"made", "six"}, {"flat"});
  auto& node = loop(model, {"made"}, {"last", "steps"});
  Body body(node, {"trip", "again", "old"}, {"again", "new", "step"});
  body.node("Reshape", {"old", "six"}, {"before"});
  OnnxBuilder::set(body.node("Cast", {"trip"}, {"number"}), "to", int64_t{1});
  body.node("Add", {"x", "number"}, {"new"});
  body.node("Reshape", {"new", "six"}, {"after"});
  body.node("Sub", {"after", "before"}, {"step"});
  model.output("kept");
  model.node("Abs", {"flat"}, {"kept"});
  both(model, trips_at_most(3), [](SmallPlan&, Session& session) {
    const std::vector<float> x{1, 2, 3, 4, 5, 6};
    write(session, 0, x);
    ASSERT_TRUE(run(session, 3).ok());
    EXPECT_EQ(read(session, 0), (std::vector<float>{3, 4, 5, 6, 7, 8}));
    std::vector<float> steps{2, 4, 6, 8, 10, 12};
    steps.insert(steps.end(), 12, 1);
    EXPECT_EQ(read(session, 1), steps);
    EXPECT_EQ(read(session, 2), x);
  });
}

/// The result of an If lies where its branches' do, and has extents that vary with the branch; a
/// loop in a branch still has its own.
TEST(Loop, LoopsInBranchesKeepTheirExtents) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  model.input("c", {}, DataType::kBool);
  model.input("trips", {}, DataType::kInt64);
  model.input("go", {}, DataType::kBool);
  for (const char* name : {"last", "all"}) model.output(name);
  auto& choice = model.node("If", {"c"}, {"last", "all"});
  Body loops(choice, {}, {"squared", "each"}, "then_branch");
  loops.node("Neg", {"x"}, {"first"});
  auto& inside = loops.node("Loop", {"trips", "go", "first"}, {"squared", "each"});
  inside.set_name("Loop1");
  Body body(inside, {"trip", "again", "old"}, {"again", "new", "seen"});
  body.node("Mul", {"old", "old"}, {"new"});
  body.node("Abs", {"x"}, {"seen"});
  Body other(choice, {}, {"twice", "wide"}, "else_branch");
  OnnxBuilder::set(other.node("Concat", {"x", "x"}, {"twice"}), "axis", int64_t{0});
  const int64_t shape[] = {3, 4, 5};
  model.initializer("shape", DataType::kInt64, {3}, shape, sizeof(shape));
  other.node("ConstantOfShape", {"shape"}, {"wide"});
  both(model, trips_at_most(3), [](SmallPlan&, Session& session) {
    const std::vector<float> x{1, 2, 3, 4, 5, 6};
    write(session, 0, x);
    const auto extents = [&](int output) {
      const auto dims = session.output_port(output).value().tensor.dims();
      return std::vector<int32_t>(dims.begin(), dims.end());
    };
    for (const int64_t trips : {0, 1, 2}) {
      session.input<bool>(1).value()[0] = true;
      ASSERT_TRUE(run(session, trips).ok());
      EXPECT_EQ(extents(0), (std::vector<int32_t>{2, 3}));
      EXPECT_EQ(read(session, 0)[1], trips == 0 ? -2 : (trips == 1 ? 4 : 16));
      EXPECT_EQ(extents(1), (std::vector<int32_t>{static_cast<int32_t>(trips), 2, 3}));
      session.input<bool>(1).value()[0] = false;
      ASSERT_TRUE(run(session, trips).ok());
      EXPECT_EQ(extents(0), (std::vector<int32_t>{4, 3}));
      EXPECT_EQ(read(session, 0)[7], 2);
      EXPECT_EQ(extents(1), (std::vector<int32_t>{3, 4, 5}));
    }
  });
}

OnnxBuilder scan(std::vector<int64_t> input_axes, std::vector<int64_t> input_directions,
                 std::vector<int64_t> output_axes, std::vector<int64_t> output_directions) {
  OnnxBuilder model;
  model.input("start", {2});
  symbol(model.input("x", {0, 2}), 0, "n");
  symbol(model.input("z", {2, 0}), 1, "n");
  for (const char* name : {"end", "sums"}) model.output(name);
  auto& node = model.node("Scan", {"start", "x", "z"}, {"end", "sums"});
  OnnxBuilder::set(node, "num_scan_inputs", int64_t{2});
  OnnxBuilder::set(node, "scan_input_axes", std::move(input_axes));
  OnnxBuilder::set(node, "scan_input_directions", std::move(input_directions));
  OnnxBuilder::set(node, "scan_output_axes", std::move(output_axes));
  OnnxBuilder::set(node, "scan_output_directions", std::move(output_directions));
  Body body(node, {"state", "a", "b"}, {"next", "seen"});
  body.node("Mul", {"a", "b"}, {"product"});
  body.node("Add", {"state", "product"}, {"next"});
  body.node("Sub", {"next", "a"}, {"seen"});
  return model;
}

TEST(Scan, AxesAndDirections) {
  for (const bool reverse_in : {false, true}) {
    for (const int64_t axis_out : {0, 1, -1}) {
      for (const bool reverse_out : {false, true}) {
        ConvertOptions options;
        options.dims["n"] = converter::DimRange{1, 4};
        const OnnxBuilder model =
            scan({0, -1}, {reverse_in ? 1 : 0, 0}, {axis_out}, {reverse_out ? 1 : 0});
        both(model, options, [&](SmallPlan&, Session& session) {
          for (const int32_t n : {4, 1, 3}) {
            const int32_t rows[2] = {n, 2}, columns[2] = {2, n};
            ASSERT_TRUE(session.resize_input(1, rows).ok());
            ASSERT_TRUE(session.resize_input(2, columns).ok());
            const auto count = static_cast<size_t>(n);
            std::vector<float> x(2 * count), z(2 * count), sums(2 * count), state{0.5f, -1};
            for (size_t i = 0; i < x.size(); ++i) {
              x[i] = static_cast<float>(i) - 2;
              z[i] = static_cast<float>(i % 3) + 0.5f;
            }
            write(session, 0, state);
            write(session, 1, x);
            write(session, 2, z);
            ASSERT_TRUE(session.run().ok());
            for (size_t t = 0; t < count; ++t) {
              const size_t row = reverse_in ? count - 1 - t : t;
              const size_t place = reverse_out ? count - 1 - t : t;
              for (size_t k = 0; k < 2; ++k) {
                state[k] += x[2 * row + k] * z[k * count + t];
                sums[axis_out == 0 ? 2 * place + k : k * count + place] = state[k] - x[2 * row + k];
              }
            }
            EXPECT_EQ(read(session, 0), state);
            EXPECT_EQ(read(session, 1), sums);
          }
        });
      }
    }
  }
}

TEST(Scan, OfOperatorSet8StopsWhereAnItemEnds) {
  OnnxBuilder model(8);
  model.input("lengths", {2}, DataType::kInt64);
  model.input("start", {2, 1});
  model.input("x", {2, 3, 1});
  for (const char* name : {"end", "sums"}) model.output(name);
  auto& node = model.node("Scan", {"lengths", "start", "x"}, {"end", "sums"});
  OnnxBuilder::set(node, "num_scan_inputs", int64_t{1});
  Body body(node, {"state", "a"}, {"next", "seen"});
  body.node("Add", {"state", "a"}, {"next"});
  body.node("Identity", {"next"}, {"seen"});
  for (const bool reverse : {false, true}) {
    if (reverse) {
      OnnxBuilder::set(*model.graph().mutable_node(0), "directions", std::vector<int64_t>{1});
    }
    both(model, {}, [&](SmallPlan& plan, Session& session) {
      for (const size_t last : {3, 1, 0}) {
        const std::vector<float> x{1, 2, 4, 8, 16, 32};
        const size_t lengths[] = {2, last};
        std::vector<float> ends{100, 200}, sums(6);
        write(session, 1, ends);
        write(session, 2, x);
        for (size_t item = 0; item < 2; ++item) {
          session.input<int64_t>(0).value()[item] = static_cast<int64_t>(lengths[item]);
          for (size_t t = 0; t < lengths[item]; ++t) {
            const size_t from = reverse ? lengths[item] - 1 - t : t;
            sums[3 * item + t] = ends[item] += x[3 * item + from];
          }
        }
        ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
        EXPECT_EQ(read(session, 0), ends);
        EXPECT_EQ(read(session, 1), sums);
      }
    });
  }
}

TEST(Scan, InputsOfDifferentLengthFail) {
  ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, 4};
  options.dims["m"] = converter::DimRange{1, 4};
  OnnxBuilder model = scan({0, 1}, {0, 0}, {0}, {0});
  symbol(*model.graph().mutable_input(2), 1, "m");
  both(model, options, [](SmallPlan&, Session& session) {
    for (const auto& [n, m] : {std::pair{3, 4}, std::pair{4, 2}}) {
      const int32_t rows[2] = {n, 2}, columns[2] = {2, m};
      ASSERT_TRUE(session.resize_input(1, rows).ok());
      ASSERT_TRUE(session.resize_input(2, columns).ok());
      EXPECT_EQ(session.run().code(), Code::kIndexOutOfRange);
    }
  });
}

TEST(Loop, WhatCannotBeIsRefused) {
  const auto error = [](const std::vector<std::string>& given, const std::vector<std::string>& made,
                        const char* type, const std::vector<std::string>& from) {
    OnnxBuilder model;
    model.input("x", {2});
    auto& node = loop(model, {"x"}, {"y"});
    Body body(node, given, made);
    body.node(type, from, {"new"});
    return conversion_error(model);
  };
  EXPECT_CONTAINS(error({"i", "again", "old"}, {"again", "new"}, "Shape", {"old"}),
                  "'old' has type float in the first trip and int64 afterwards");
  EXPECT_CONTAINS(error({"i", "again"}, {"again", "new"}, "Neg", {"x"}),
                  "carries 1 values and has 1 outputs, but its body takes 0 values");
  EXPECT_CONTAINS(error({"i"}, {"new"}, "Neg", {"x"}), "its body has 1 inputs and 1 outputs");
  OnnxBuilder model;
  model.input("x", {2});
  auto& node = loop(model, {"x"}, {"y"});
  Body body(node, {"i", "again", "old"}, {"again", "new"});
  model.initializer("axes", DataType::kInt64, {1}, "\0\0\0\0\0\0\0\0", 8);
  body.node("Unsqueeze", {"old", "axes"}, {"new"});
  EXPECT_CONTAINS(conversion_error(model),
                  "'old' has rank 1 ([2]) in the first trip and rank 2 ([1,2]) afterwards");
}

}  // namespace
}  // namespace intarsia::test
