// SPDX-License-Identifier: Apache-2.0
//
// Loops that read the elements of a sequence from outside: they find them by an index, and nothing
// else changes. Each model runs with all passes and with none.
#include "test/runtime/both_ways.h"
#include "test/runtime/sequence_ports.h"

namespace intarsia::test {
namespace {

using converter::ConvertOptions;
using converter::OnnxBuilder;
using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// The body of a new loop, with these inputs and outputs behind trip and condition.
onnx::GraphProto& add_loop(Nodes& nodes, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const char* prefix,
                           const std::vector<std::string>& body_inputs,
                           const std::vector<std::string>& body_outputs) {
  auto& loop = OnnxBuilder::add_node(nodes, "Loop", inputs, outputs);
  loop.set_name(std::string(prefix) + "loop");
  onnx::GraphProto& body =
      *OnnxBuilder::attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  body.set_name(std::string(prefix) + "body");
  for (const char* name : {"trip", "go"}) body.add_input()->set_name(std::string(prefix) + name);
  for (const std::string& name : body_inputs) body.add_input()->set_name(name);
  body.add_output()->set_name(std::string(prefix) + "go");
  for (const std::string& name : body_outputs) body.add_output()->set_name(name);
  return body;
}

int64_t kernels(const SmallPlan& plan, const std::string& name) {
  const auto& all = plan.conversion.plan.summary.kernels;
  return std::count_if(all.begin(), all.end(), [&](const auto& k) { return k.text == name; });
}

bool is_indexed(const SmallPlan& plan) {
  EXPECT_EQ(kernels(plan, "intarsia:SequenceElement"), kernels(plan, "intarsia:SequenceIndex"));
  EXPECT_NE(kernels(plan, "intarsia:SequenceElement"), kernels(plan, "SequenceAt"));
  return kernels(plan, "SequenceAt") == 0;
}

template <class T>
void fill(Session& session, int input, const std::vector<T>& values) {
  const auto to = session.input<T>(input).value();
  ASSERT_EQ(to.size(), values.size());
  std::copy(values.begin(), values.end(), to.begin());
}

/// The sums of parts of x, which the run cuts at places of its own, in any order.
OnnxBuilder sums_of_parts() {
  OnnxBuilder model;
  model.input("x", {7});
  model.input("sizes", {4}, DataType::kInt64);
  model.input("positions", {5}, DataType::kInt64);
  const int64_t five[] = {5};
  model.initializer("five", DataType::kInt64, {}, five, sizeof(five));
  model.node("SplitToSequence", {"x", "sizes"}, {"parts"});
  Nodes& nodes = *model.graph().mutable_node();
  onnx::GraphProto& body = add_loop(nodes, {"five", ""}, {"sums"}, "", {}, {"sum"});
  Nodes& inner = *body.mutable_node();
  OnnxBuilder::add_node(inner, "Gather", {"positions", "trip"}, {"position"});
  OnnxBuilder::add_node(inner, "SequenceAt", {"parts", "position"}, {"part"});
  auto& sum = OnnxBuilder::add_node(inner, "ReduceSum", {"part"}, {"sum"});
  OnnxBuilder::set(sum, "keepdims", int64_t{0});
  model.output("sums");
  return model;
}

TEST(SequenceIndex, LoopsFindElementsOfAnySizeInAnyOrder) {
  int indexed = 0;
  both(sums_of_parts(), {}, [&](SmallPlan& plan, Session& session) {
    indexed += is_indexed(plan) ? 1 : 0;
    const auto run = [&](const std::vector<int64_t>& sizes, const std::vector<int64_t>& positions) {
      fill<float>(session, 0, {1, 2, 4, 8, 16, 32, 64});
      fill<int64_t>(session, 1, sizes);
      fill<int64_t>(session, 2, positions);
      return session.run();
    };
    for (const auto& [sizes, sums] :
         {std::pair<std::vector<int64_t>, std::vector<float>>{{1, 2, 3, 1}, {64, 1, 56, 64, 6}},
          {{0, 7, 0, 0}, {0, 0, 0, 0, 127}},
          {{4, 0, 1, 2}, {96, 15, 16, 96, 0}}}) {
      ASSERT_TRUE(run(sizes, {3, 0, -2, -1, 1}).ok()) << plan.text(session.diagnostic());
      EXPECT_EQ(floats_of(session.output_port(0).value().tensor), sums);
    }
    for (const int64_t wrong : {4, -5}) {
      EXPECT_EQ(run({1, 2, 3, 1}, {3, 0, wrong, 0, 0}), Code::kIndexOutOfRange) << wrong;
      EXPECT_CONTAINS(plan.text(session.diagnostic()), "position in a sequence");
    }
  });
  EXPECT_EQ(indexed, 1) << "with all passes";
}

/// A host's list, as long as it likes up to a maximum.
TEST(SequenceIndex, LoopsReadInputs) {
  OnnxBuilder model;
  sequence_input(model, "s");
  model.input("trips", {}, DataType::kInt64);
  Nodes& nodes = *model.graph().mutable_node();
  onnx::GraphProto& body = add_loop(nodes, {"trips", ""}, {"rows"}, "", {}, {"row"});
  OnnxBuilder::add_node(*body.mutable_node(), "SequenceAt", {"s", "trip"}, {"element"});
  OnnxBuilder::add_node(*body.mutable_node(), "Neg", {"element"}, {"row"});
  model.output("rows");
  ConvertOptions options = up_to(4, {2});
  options.max_trips["loop"] = 4;
  both(model, options, [](SmallPlan& plan, Session& session) {
    for (const std::vector<std::vector<float>>& given :
         {std::vector<std::vector<float>>{{1, 2}, {3, 4}, {5, 6}},
          {},
          {{1, 7}, {2, 7}, {3, 7}, {4, 7}}}) {
      give(session, 0, given);
      fill<int64_t>(session, 1, {static_cast<int64_t>(given.size())});
      ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
      std::vector<float> expected;
      for (const auto& element : given) {
        for (const float v : element) expected.push_back(-v);
      }
      EXPECT_EQ(floats_of(session.output_port(0).value().tensor), expected);
      fill<int64_t>(session, 1, {static_cast<int64_t>(given.size()) + 1});
      EXPECT_NE(session.run(), Code::kOk);
    }
    give(session, 0, {{1, 2}, {3, 4}});
    session.input_port(0).value().tensor.as<std::byte>()[16] = std::byte{0x7f};  // an extent
    fill<int64_t>(session, 1, {1});
    EXPECT_EQ(session.run(), Code::kInvalidValue);
    EXPECT_CONTAINS(plan.text(session.diagnostic()), "no sequence");
  });
}

/// The inner loop reads what the outer one makes in each of its trips.
TEST(SequenceIndex, InnerLoopsReadWhatTripsMake) {
  OnnxBuilder model;
  model.input("x", {3, 4});
  const int64_t three[] = {3}, four[] = {4};
  model.initializer("three", DataType::kInt64, {}, three, sizeof(three));
  model.initializer("four", DataType::kInt64, {}, four, sizeof(four));
  onnx::GraphProto& outer =
      add_loop(*model.graph().mutable_node(), {"three", ""}, {"y"}, "outer_", {}, {"row"});
  Nodes& nodes = *outer.mutable_node();
  OnnxBuilder::add_node(nodes, "Gather", {"x", "outer_trip"}, {"x_row"});
  auto& split = OnnxBuilder::add_node(nodes, "SplitToSequence", {"x_row"}, {"numbers"});
  OnnxBuilder::set(split, "keepdims", int64_t{0});
  onnx::GraphProto& inner = add_loop(nodes, {"four", ""}, {"row"}, "inner_", {}, {"square"});
  OnnxBuilder::add_node(*inner.mutable_node(), "SequenceAt", {"numbers", "inner_trip"}, {"number"});
  OnnxBuilder::add_node(*inner.mutable_node(), "Mul", {"number", "number"}, {"square"});
  model.output("y");
  int indexed = 0;
  both(model, {}, [&](SmallPlan& plan, Session& session) {
    indexed += is_indexed(plan) ? 1 : 0;
    std::vector<float> x, squares;
    for (int i = 0; i < 12; ++i) {
      x.push_back(static_cast<float>(i) - 5);
      squares.push_back(x.back() * x.back());
    }
    fill<float>(session, 0, x);
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    const auto y = session.output<float>(0).value();
    EXPECT_EQ(std::vector<float>(y.begin(), y.end()), squares);
  });
  EXPECT_EQ(indexed, 1);
}

/// What a loop carries is another sequence in each trip: there is no index of it.
TEST(SequenceIndex, NoneOfWhatTripsChange) {
  OnnxBuilder model;
  model.input("x", {2});
  const int64_t three[] = {3}, last[] = {-1};
  model.initializer("three", DataType::kInt64, {}, three, sizeof(three));
  model.input("last", {}, DataType::kInt64);
  model.node("SequenceConstruct", {"x"}, {"first"});
  onnx::GraphProto& body = add_loop(*model.graph().mutable_node(), {"three", "", "first"}, {"all"},
                                    "", {"so_far"}, {"more"});
  Nodes& nodes = *body.mutable_node();
  OnnxBuilder::add_node(nodes, "SequenceAt", {"so_far", "last"}, {"before"});
  OnnxBuilder::add_node(nodes, "Add", {"before", "before"}, {"twice"});
  OnnxBuilder::add_node(nodes, "SequenceInsert", {"so_far", "twice"}, {"more"});
  model.node("ConcatFromSequence", {"all"}, {"y"});
  OnnxBuilder::set(*model.graph().mutable_node()->rbegin(), "axis", int64_t{0});
  model.output("y");
  both(model, {}, [&](SmallPlan& plan, Session& session) {
    EXPECT_FALSE(is_indexed(plan));
    fill<float>(session, 0, {1, 3});
    fill<int64_t>(session, 1, {last[0]});
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    const auto y = session.output<float>(0).value();
    EXPECT_EQ(std::vector<float>(y.begin(), y.end()),
              (std::vector<float>{1, 3, 2, 6, 4, 12, 8, 24}));
  });
}

}  // namespace
}  // namespace intarsia::test
