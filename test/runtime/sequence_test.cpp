// SPDX-License-Identifier: Apache-2.0
//
// Sequences and optional values from model to run: their bytes, ports of sequences, what loops
// carry and grow, bounds, and input bytes that are no sequence. Each model runs with all passes and
// with none.
#include <array>

#include "test/runtime/both_ways.h"
#include "test/runtime/sequence_ports.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;

struct alignas(16) Bytes {
  std::array<std::byte, 512> memory{};
};

TEST(SequenceBytes, WhatIsWrittenIsRead) {
  Bytes bytes;
  SequenceWriter writer(bytes.memory);
  EXPECT_TRUE(writer.append(view_of({1, 2, 3}, {3})));
  EXPECT_TRUE(writer.append(view_of({}, {0, 4})));
  EXPECT_TRUE(writer.append(view_of({5}, {})));
  const auto found = SequenceView::of({bytes.memory.data(), writer.bytes()});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3);
  EXPECT_EQ(floats_of((*found)[0]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ((*found)[1].rank, 2);
  EXPECT_EQ((*found)[1].extents[1], 4);
  EXPECT_EQ(floats_of((*found)[2]), (std::vector<float>{5}));
  const std::vector<float> large(100);
  EXPECT_FALSE(writer.append(view_of(large, {100}))) << "there is no room for it";
  EXPECT_EQ(SequenceView::of(std::span<const std::byte>(bytes.memory.data(), 0))->size(), 0);
}

// Elements of the memory that is written: one stays where it is, one moves to the front.
TEST(SequenceBytes, ElementsAreKeptInPlace) {
  Bytes bytes;
  SequenceWriter all(bytes.memory);
  EXPECT_TRUE(all.append(view_of({1, 2, 3, 4, 5, 6}, {2, 3})));
  EXPECT_TRUE(all.append(view_of({7}, {1, 1, 1})));
  EXPECT_TRUE(all.append(view_of({8, 9}, {2})));
  const auto before = SequenceView::of({bytes.memory.data(), all.bytes()});
  ASSERT_TRUE(before);
  const TensorView first = (*before)[0], last = (*before)[2];
  SequenceWriter kept(bytes.memory);
  EXPECT_TRUE(kept.append(first));
  EXPECT_TRUE(kept.append(last));
  const auto found = SequenceView::of({bytes.memory.data(), kept.bytes()});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2);
  EXPECT_EQ((*found)[0].rank, 2);
  EXPECT_EQ((*found)[0].extents[1], 3);
  EXPECT_EQ(floats_of((*found)[0]), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ((*found)[1].extents[0], 2);
  EXPECT_EQ(floats_of((*found)[1]), (std::vector<float>{8, 9}));
}

TEST(SequenceBytes, AnyDamageIsFoundOrStaysInside) {
  Bytes bytes;
  SequenceWriter writer(bytes.memory);
  ASSERT_TRUE(writer.append(view_of({1, 2, 3}, {3})));
  ASSERT_TRUE(writer.append(view_of({4, 5, 6, 7}, {2, 2})));
  const size_t size = writer.bytes();
  int refused = 0;
  for (size_t at = 0; at < size; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = bytes;
      damaged.memory[at] ^= static_cast<std::byte>(1 << bit);
      const auto found = SequenceView::of({damaged.memory.data(), size});
      refused += found ? 0 : 1;
      if (!found) continue;
      for (const TensorView& element : *found) {
        const auto* end = element.as<const std::byte>() + element.bytes();
        EXPECT_LE(end, damaged.memory.data() + size) << at;
        EXPECT_LE(element.rank, kMaxRank);
      }
    }
  }
  EXPECT_GT(refused, 300);
  for (size_t length = 1; length < size; ++length) {
    const bool whole = length == 64;  // the first element alone
    EXPECT_EQ(SequenceView::of({bytes.memory.data(), length}).has_value(), whole) << length;
  }
  EXPECT_FALSE(SequenceView::of({bytes.memory.data() + 8, 16})) << "misaligned";
}

/// s with x behind it, without its first element.
OnnxBuilder queue() {
  OnnxBuilder model;
  sequence_input(model, "s");
  model.input("x", {2});
  const int64_t zero = 0;
  model.initializer("zero", DataType::kInt64, {}, &zero, sizeof(zero));
  model.node("SequenceInsert", {"s", "x"}, {"longer"});
  model.node("SequenceErase", {"longer", "zero"}, {"rest"});
  model.node("SequenceAt", {"longer", "zero"}, {"first"});
  model.node("SequenceLength", {"rest"}, {"length"});
  for (const char* name : {"rest", "first", "length"}) model.output(name);
  return model;
}

TEST(Sequence, PortsAreAsLongAsTheProgramSays) {
  both(queue(), up_to(3, {4}), [](SmallPlan&, Session& session) {
    session.input<float>(1).value()[0] = 8;
    session.input<float>(1).value()[1] = 9;
    for (const auto& given :
         {std::vector<std::vector<float>>{}, {{1, 2, 3, 4}}, {{1}, {}, {5, 6}}}) {
      give(session, 0, given);
      ASSERT_TRUE(session.run().ok());
      std::vector<std::vector<float>> expected = given;
      expected.push_back({8, 9});
      EXPECT_EQ(floats_of(session.output_port(1).value().tensor), expected.front());
      expected.erase(expected.begin());
      EXPECT_EQ(taken(session, 0), expected);
      EXPECT_EQ(session.output<int64_t>(2).value()[0], static_cast<int64_t>(expected.size()));
    }
  });
}

TEST(Sequence, BytesThatAreNoSequenceAreAnError) {
  both(queue(), up_to(2, {2}), [](SmallPlan& plan, Session& session) {
    give(session, 0, {{1, 2}, {3, 4}});
    auto* bytes = session.input_port(0).value().tensor.as<std::byte>();
    bytes[16] = std::byte{0x7f};  // the first extent
    EXPECT_EQ(session.run(), Code::kInvalidValue);
    const std::string text = plan.text(session.diagnostic());
    EXPECT_TRUE(contains(text, "SequenceInsert") && contains(text, "no sequence")) << text;
    give(session, 0, {{1, 2}});
    EXPECT_TRUE(session.run().ok());
    // An element that is larger than planned.
    give(session, 0, {{1, 2, 3, 4}});
    EXPECT_EQ(session.run(), Code::kWrongExtent);
  });
}

TEST(Sequence, PositionsLieInTheSequence) {
  OnnxBuilder model;
  sequence_input(model, "s");
  model.input("position", {}, DataType::kInt64);
  model.node("SequenceAt", {"s", "position"}, {"element"});
  model.output("element");
  both(model, up_to(3, {1}), [](SmallPlan& plan, Session& session) {
    give(session, 0, {{1}, {2}, {3}});
    const auto at = [&](int64_t position) {
      session.input<int64_t>(1).value()[0] = position;
      return session.run();
    };
    for (const auto& [position, value] :
         {std::pair<int64_t, float>{0, 1.F}, {2, 3.F}, {-1, 3.F}, {-3, 1.F}}) {
      ASSERT_TRUE(at(position).ok());
      EXPECT_EQ(session.output<float>(0).value()[0], value);
    }
    for (const int64_t position : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
      EXPECT_EQ(at(position), Code::kIndexOutOfRange);
    }
    const std::string text = plan.text(session.diagnostic());
    EXPECT_TRUE(contains(text, "position in a sequence")) << text;
  });
}

TEST(Sequence, WhatBoundsAnInputIsAskedFor) {
  const std::string text = conversion_error(queue(), {});
  EXPECT_TRUE(contains(text, "--max-length s=N") && contains(text, "--shape s=EXTENTS")) << text;
  ConvertOptions tensor;
  tensor.max_lengths["x"] = 3;
  EXPECT_TRUE(contains(conversion_error(queue(), tensor), "the input is no sequence"));
}

/// A loop that puts slices of x, each longer by one, behind one another.
TEST(Sequence, LoopsGrowThem) {
  OnnxBuilder model;
  model.input("x", {5});
  model.input("trips", {}, DataType::kInt64);
  model.node("SequenceEmpty", {}, {"none"});
  auto& loop = model.node("Loop", {"trips", "", "none"}, {"slices"});
  loop.set_name("Loop1");
  onnx::GraphProto& body =
      *OnnxBuilder::attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  body.set_name("body");
  for (const char* name : {"trip", "go", "so_far"}) body.add_input()->set_name(name);
  for (const char* name : {"go", "more"}) body.add_output()->set_name(name);
  const int64_t zero[] = {0}, one[] = {1};
  model.initializer("zero", DataType::kInt64, {1}, zero, sizeof(zero));
  model.initializer("one", DataType::kInt64, {1}, one, sizeof(one));
  auto& nodes = *body.mutable_node();
  OnnxBuilder::add_node(nodes, "Add", {"trip", "one"}, {"end"});
  OnnxBuilder::add_node(nodes, "Slice", {"x", "zero", "end"}, {"slice"});
  OnnxBuilder::add_node(nodes, "SequenceInsert", {"so_far", "slice"}, {"more"});
  model.output("slices");
  EXPECT_CONTAINS(conversion_error(model),
                  "the number of its trips is not known, and 'slices' collects a result of each; "
                  "declare it with --max-trips Loop1=N");
  ConvertOptions options;
  options.max_trips["Loop1"] = 4;
  both(model, options, [](SmallPlan& plan, Session& session) {
    for (const auto& kernel : plan.conversion.plan.summary.kernels) {
      EXPECT_NE(kernel.text, "SequenceInsert") << "each trip copies what the loop carries";
    }
    for (int i = 0; i < 5; ++i) {
      session.input<float>(0).value()[static_cast<size_t>(i)] = static_cast<float>(i + 1);
    }
    for (const int64_t trips : {3, 0, 4}) {
      session.input<int64_t>(1).value()[0] = trips;
      ASSERT_TRUE(session.run().ok());
      const auto slices = taken(session, 0);
      ASSERT_EQ(slices.size(), static_cast<size_t>(trips));
      for (size_t i = 0; i < slices.size(); ++i) {
        ASSERT_EQ(slices[i].size(), i + 1);
        EXPECT_EQ(slices[i].back(), static_cast<float>(i + 1));
      }
    }
    session.input<int64_t>(1).value()[0] = 5;
    EXPECT_EQ(session.run(), Code::kWrongExtent);
  });
}

/// Of the sequences that a loop hands on, those that it only appends to are collected; one that a
/// trip looks at, or that is not empty at first, is carried. All results stay in their places.
TEST(Sequence, LoopsCollectWhatTheyAppend) {
  OnnxBuilder model;
  model.input("x", {2});
  model.input("trips", {}, DataType::kInt64);
  model.node("SequenceEmpty", {}, {"none"});
  model.node("SequenceConstruct", {"x"}, {"one"});
  auto& loop = model.node("Loop", {"trips", "", "none", "x", "none", "one", "none"},
                          {"sums", "sum", "read", "begun", "squares", "all"});
  loop.set_name("Loop1");
  onnx::GraphProto& body =
      *OnnxBuilder::attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  body.set_name("body");
  for (const char* name : {"trip", "go", "a", "before", "b", "c", "d"}) {
    body.add_input()->set_name(name);
  }
  for (const char* name : {"go", "a1", "after", "b1", "c1", "d1", "after"}) {
    body.add_output()->set_name(name);
  }
  auto& nodes = *body.mutable_node();
  OnnxBuilder::add_node(nodes, "Add", {"before", "x"}, {"after"});
  OnnxBuilder::add_node(nodes, "SequenceInsert", {"a", "after"}, {"a1"});
  OnnxBuilder::add_node(nodes, "SequenceLength", {"b"}, {"length"});
  OnnxBuilder::add_node(nodes, "SequenceInsert", {"b", "length"}, {"b1"});
  OnnxBuilder::add_node(nodes, "SequenceInsert", {"c", "x"}, {"c1"});
  OnnxBuilder::add_node(nodes, "Mul", {"after", "after"}, {"square"});
  OnnxBuilder::add_node(nodes, "SequenceInsert", {"d", "square"}, {"d1"});
  for (const char* name : {"sums", "sum", "begun", "squares", "all"}) model.output(name);
  // A sequence of numbers: those that it had before.
  model.node("ConcatFromSequence", {"read"}, {"lengths"});
  auto& concat = *model.graph().mutable_node()->rbegin();
  OnnxBuilder::attribute(concat, "axis", onnx::AttributeProto::INT).set_i(0);
  OnnxBuilder::attribute(concat, "new_axis", onnx::AttributeProto::INT).set_i(1);
  model.output("lengths");
  ConvertOptions options;
  options.max_trips["Loop1"] = 3;
  both(model, options, [](SmallPlan& plan, Session& session) {
    session.input<float>(0).value()[0] = 1;
    session.input<float>(0).value()[1] = 2;
    for (const int64_t trips : {2, 1, 3}) {
      session.input<int64_t>(1).value()[0] = trips;
      ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
      std::vector<std::vector<float>> sums, squares, begun{{1, 2}};
      std::vector<float> all;
      for (int64_t trip = 0; trip < trips; ++trip) {
        const auto by = static_cast<float>(trip + 2);
        sums.push_back({by, 2 * by});
        squares.push_back({by * by, 4 * by * by});
        begun.push_back({1, 2});
        all.insert(all.end(), {by, 2 * by});
        EXPECT_EQ(session.output<int64_t>(5).value()[static_cast<size_t>(trip)], trip);
      }
      EXPECT_EQ(taken(session, 0), sums);
      EXPECT_EQ(floats_of(session.output_port(1).value().tensor), sums.back());
      EXPECT_EQ(taken(session, 2), begun);
      EXPECT_EQ(taken(session, 3), squares);
      EXPECT_EQ(floats_of(session.output_port(4).value().tensor), all);
    }
  });
}

/// Whether a trip adds an element is known in the run alone; how many there can be follows from the
/// trips.
TEST(Sequence, LoopsGrowThemInBranches) {
  OnnxBuilder model;
  model.input("x", {4, 2});
  model.input("wanted", {4}, DataType::kBool);
  model.node("SequenceEmpty", {}, {"none"});
  const int64_t four[] = {4};
  model.initializer("four", DataType::kInt64, {}, four, sizeof(four));
  auto& loop = model.node("Loop", {"four", "", "none"}, {"rows"});
  onnx::GraphProto& body =
      *OnnxBuilder::attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  body.set_name("body");
  for (const char* name : {"trip", "go", "so_far"}) body.add_input()->set_name(name);
  for (const char* name : {"go", "more"}) body.add_output()->set_name(name);
  auto& nodes = *body.mutable_node();
  OnnxBuilder::add_node(nodes, "Gather", {"wanted", "trip"}, {"this_one"});
  auto& choice = OnnxBuilder::add_node(nodes, "If", {"this_one"}, {"more"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::GraphProto& graph =
        *OnnxBuilder::attribute(choice, branch, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(branch);
    graph.add_output()->set_name(branch);
    if (branch[0] == 't') {
      OnnxBuilder::add_node(*graph.mutable_node(), "Gather", {"x", "trip"}, {"row"});
      OnnxBuilder::add_node(*graph.mutable_node(), "SequenceInsert", {"so_far", "row"}, {branch});
    } else {
      OnnxBuilder::add_node(*graph.mutable_node(), "Identity", {"so_far"}, {branch});
    }
  }
  model.output("rows");
  both(model, {}, [](SmallPlan&, Session& session) {
    for (int i = 0; i < 8; ++i) {
      session.input<float>(0).value()[static_cast<size_t>(i)] = static_cast<float>(i);
    }
    for (const unsigned wanted : {0U, 0b0110U, 0b1111U, 0b1000U}) {
      std::vector<std::vector<float>> expected;
      for (unsigned row = 0; row < 4; ++row) {
        const bool this_one = ((wanted >> row) & 1U) != 0;
        session.input<bool>(1).value()[row] = this_one;
        const auto first = static_cast<float>(2 * row);
        if (this_one) expected.push_back({first, first + 1});
      }
      ASSERT_TRUE(session.run().ok());
      EXPECT_EQ(taken(session, 0), expected);
    }
  });
}

/// What comes out of either of two optional sequences is not taken to be as long as one of them.
TEST(Sequence, EitherOfTwoHasALengthOfItsOwn) {
  OnnxBuilder model;
  sequence_input(model, "s");
  sequence_input(model, "t");
  model.input("first", {}, DataType::kBool);
  auto& choice = model.node("If", {"first"}, {"chosen"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::GraphProto& graph =
        *OnnxBuilder::attribute(choice, branch, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(branch);
    graph.add_output()->set_name(branch);
    OnnxBuilder::add_node(*graph.mutable_node(), "Optional", {branch[0] == 't' ? "s" : "t"},
                          {branch});
  }
  model.node("OptionalGetElement", {"chosen"}, {"sequence"});
  model.node("SequenceLength", {"sequence"}, {"length"});
  model.node("SequenceLength", {"s"}, {"length_of_s"});
  model.node("Equal", {"length", "length_of_s"}, {"same"});
  for (const char* name : {"length", "same"}) model.output(name);
  ConvertOptions options = up_to(3, {2});
  options.max_lengths["t"] = 2;
  options.shapes["t"] = {2};
  both(model, options, [](SmallPlan&, Session& session) {
    for (const bool first : {true, false}) {
      give(session, 0, {{1, 2}, {3, 4}, {5, 6}});
      give(session, 1, {{7, 8}});
      session.input<bool>(2).value()[0] = first;
      ASSERT_TRUE(session.run().ok());
      EXPECT_EQ(session.output<int64_t>(0).value()[0], first ? 3 : 1);
      EXPECT_EQ(session.output<bool>(1).value()[0], first);
    }
  });
}

TEST(Sequence, AnOptionalValueIsThereOrNot) {
  OnnxBuilder model;
  auto* input = model.graph().add_input();
  input->set_name("s");
  input->mutable_type()
      ->mutable_optional_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(1);
  model.node("OptionalHasElement", {"s"}, {"has"});
  model.node("OptionalGetElement", {"s"}, {"element"});
  model.output("has");
  model.output("element");
  ConvertOptions options;
  options.shapes["s"] = {2};
  both(model, options, [](SmallPlan& plan, Session& session) {
    const TensorView given = session.input_port(0).value().tensor;
    SequenceWriter writer({given.as<std::byte>(), static_cast<size_t>(given.count())});
    ASSERT_TRUE(writer.append(view_of({7, 8}, {2})));
    ASSERT_TRUE(session.run().ok());
    EXPECT_TRUE(session.output<bool>(0).value()[0]);
    EXPECT_EQ(session.output<float>(1).value()[1], 8);
    const int32_t none[] = {0};
    ASSERT_TRUE(session.resize_input(0, none).ok());
    EXPECT_EQ(session.run(), Code::kInvalidValue);
    EXPECT_FALSE(session.output<bool>(0).value()[0]);
    EXPECT_TRUE(contains(plan.text(session.diagnostic()), "without an element"));
  });
}

}  // namespace
}  // namespace intarsia::test
