// SPDX-License-Identifier: Apache-2.0
//
// Strings from model to run: what the program adds and reads, constants, sequences, loops, bounds,
// entry points, and references that lead nowhere. Each model runs with all passes and with none.
#include <cstring>

#include "intarsia/sequence.h"
#include "intarsia/string_pool.h"
#include "test/runtime/both_ways.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;
using Words = std::vector<std::string>;

TEST(StringPool, ReadsWhatWasAddedAndNothingElse) {
  const std::string_view constants = "constant";
  char memory[8];
  StringPool pool(constants, memory);
  StringRef one, two, none;
  ASSERT_TRUE(pool.add("ab", one));
  ASSERT_TRUE(pool.add("cdefgh", two));
  EXPECT_FALSE(pool.add("i", none)) << "the pool is full";
  EXPECT_TRUE(pool.add("", none)) << "an empty string needs no room";
  EXPECT_EQ(pool[one], "ab");
  EXPECT_EQ(pool[two], "cdefgh");
  EXPECT_EQ(pool[none], "");
  EXPECT_EQ((pool[{StringPool::kConstant, 8}]), "constant");
  EXPECT_EQ((pool[{StringPool::kConstant | 4, 4}]), "tant");
  for (const uint32_t offset : {0u, 1u, 7u, 8u, 9u, 0x7fffffffu}) {
    for (const uint32_t length : {1u, 8u, 9u, 0x7fffffffu, 0xffffffffu}) {
      const std::string_view found = pool[{offset, length}];
      const std::string_view constant = pool[{offset | StringPool::kConstant, length}];
      const bool inside = offset + uint64_t{length} <= 8;
      EXPECT_EQ(found.size(), inside ? length : 0) << offset << " " << length;
      EXPECT_EQ(constant.size(), inside ? length : 0) << offset << " " << length;
    }
  }
}

TEST(StringPool, WhatIsStillToBeWrittenReadsAsNothing) {
  char memory[12] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'};
  StringPool pool("constant", memory);
  pool.use(4, 8);  // the others are those of other entry points
  EXPECT_EQ(pool.written({0, 4}), "abcd");
  EXPECT_EQ(pool.written({8, 4}), "ijkl");
  EXPECT_EQ(pool.written({StringPool::kConstant | 5, 3}), "ant");
  for (const StringRef free : {StringRef{4, 1}, {7, 1}, {3, 2}, {7, 2}, {0, 12}, {4, 4}}) {
    EXPECT_EQ(pool.written(free), "") << free.offset << " " << free.length;
  }
  StringRef made;
  ASSERT_TRUE(pool.add("xy", made));
  EXPECT_EQ(pool.written(made), "xy");
  EXPECT_EQ(pool.written({3, 3}), "dxy");
  EXPECT_EQ(pool.written({5, 2}), "");
}

void give(Session& session, int index, const Words& words, int entry = 0) {
  std::span<StringRef> elements = session.input<StringRef>(index, entry).value();
  ASSERT_EQ(elements.size(), words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    Result<StringRef> added = session.add_string(words[i], entry);
    ASSERT_TRUE(added.ok()) << words[i];
    elements[i] = *added;
  }
}

Words words_of(const Session& session, int index, int entry = 0) {
  Words words;
  for (const StringRef& element : session.output<StringRef>(index, entry).value()) {
    words.emplace_back(session.string(element));
  }
  return words;
}

void strings(OnnxBuilder& model, const std::string& name, std::vector<int64_t> extents,
             const Words& words) {
  auto& tensor = *model.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int32_t>(DataType::kString));
  for (int64_t extent : extents) tensor.add_dims(extent);
  for (const std::string& word : words) tensor.add_string_data(word);
}

/// y = "<" + x + ">", z = whether x is "stop", t = both behind each other.
OnnxBuilder brackets() {
  OnnxBuilder model;
  model.input("x", {3}, DataType::kString);
  strings(model, "open", {}, {"<"});
  strings(model, "close", {1}, {">"});
  strings(model, "stop", {}, {"stop"});
  model.node("StringConcat", {"open", "x"}, {"opened"});
  model.node("StringConcat", {"opened", "close"}, {"y"});
  model.node("Equal", {"x", "stop"}, {"z"});
  OnnxBuilder::set(model.node("Concat", {"y", "x"}, {"t"}), "axis", int64_t{0});
  for (const char* name : {"y", "z", "t"}) model.output(name);
  return model;
}

TEST(Strings, ComeInAndGoOut) {
  both(brackets(), {}, [](SmallPlan&, Session& session) {
    const std::string zeros("a\0b\0", 4);
    for (int run = 0; run < 3; ++run) {
      give(session, 0, {"stop", zeros, run == 1 ? "" : "gr\xc3\xbc\xc3\x9f"});
      ASSERT_TRUE(session.run().ok());
      const Words last{run == 1 ? "" : "gr\xc3\xbc\xc3\x9f"};
      EXPECT_EQ(words_of(session, 0), (Words{"<stop>", "<" + zeros + ">", "<" + last[0] + ">"}));
      const std::span<const bool> equal = session.output<bool>(1).value();
      EXPECT_EQ(std::vector<bool>(equal.begin(), equal.end()),
                (std::vector<bool>{true, false, false}));
      EXPECT_EQ(words_of(session, 2),
                (Words{"<stop>", "<" + zeros + ">", "<" + last[0] + ">", "stop", zeros, last[0]}));
    }
  });
}

TEST(Strings, RunAgainOnTheSameInputs) {
  both(brackets(), {}, [](SmallPlan&, Session& session) {
    give(session, 0, {"a", "b", "c"});
    // What the session makes in a run begins behind the inputs each time.
    for (int run = 0; run < 2000; ++run) {
      ASSERT_TRUE(session.run().ok()) << run;
      give(session, 0, {"a", "b", std::to_string(run)});
    }
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(words_of(session, 0), (Words{"<a>", "<b>", "<1999>"}));
  });
}

TEST(Strings, ATrustedProgramLinksThemByName) {
  SmallPlan plan(brackets());
  const KernelSet kernels = tool::all_kernels();
  auto without = Session::open_trusted(plan.plan(), plan.arena(), {kernels.kernels, kernels.shapes},
                                       {}, &plan.diagnostic);
  EXPECT_EQ(without.status().code(), Code::kUnsupported);
  EXPECT_CONTAINS(plan.text(plan.diagnostic), "with_strings()");
  auto session = Session::open_trusted(plan.plan(), plan.arena(), kernels.with_strings());
  ASSERT_TRUE(session.ok());
  give(*session, 0, {"a", "b", "c"});
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(words_of(*session, 0), (Words{"<a>", "<b>", "<c>"}));
}

TEST(Strings, BeyondTheBoundIsAnErrorThatNamesNodeAndOption) {
  ConvertOptions options;
  options.max_string = 4;  // 12 bytes for the input, 24 for the two nodes
  both(brackets(), options, [](SmallPlan& plan, Session& session) {
    EXPECT_EQ(session.add_string(std::string(37, 'x')).status(), Code::kTooManyCharacters);
    EXPECT_CONTAINS(plan.text(session.diagnostic()),
                    "characters of strings: expected 36, found 37");
    EXPECT_CONTAINS(plan.text(session.diagnostic()), "larger --max-string");
    give(session, 0, {"123456789", "123456789", ""});
    EXPECT_EQ(session.run().code(), Code::kTooManyCharacters);
    EXPECT_CONTAINS(plan.text(session.diagnostic()), "(StringConcat): characters of strings");
    give(session, 0, {"123", "456", "7"});
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    EXPECT_EQ(words_of(session, 0), (Words{"<123>", "<456>", "<7>"}));
  });
}

TEST(Strings, PlansWithoutAnyRefuseThem) {
  OnnxBuilder model;
  model.input("x", {2});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  both(model, {}, [](SmallPlan&, Session& session) {
    EXPECT_EQ(session.add_string("word").status(), Code::kInvalidArgument);
    EXPECT_EQ(session.add_string("word", 1).status(), Code::kInvalidArgument);
    EXPECT_EQ(session.string({0, 4}), "");
    EXPECT_EQ(session.input<StringRef>(0).status(), Code::kWrongType);
  });
  EXPECT_EQ(Session().add_string("word").status(), Code::kInvalidArgument);
  EXPECT_EQ(Session().string({}), "");
}

TEST(Strings, ReferencesThatLeadNowhereAreEmpty) {
  both(brackets(), {}, [](SmallPlan&, Session& session) {
    std::span<StringRef> x = session.input<StringRef>(0).value();
    const uint32_t far = 0x7fffffff;
    x[0] = {far, 5};
    x[1] = {StringPool::kConstant | far, far};
    x[2] = {0, 0xffffffff};
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(words_of(session, 0), (Words{"<>", "<>", "<>"}));
    // What the run itself writes, it does not read before.
    for (uint32_t i = 0; i < 3; ++i) x[i] = {i, 2};
    ASSERT_TRUE(session.run().ok());
    for (const std::string& word : words_of(session, 0)) EXPECT_EQ(word.front(), '<') << word;
  });
}

/// Adds "x" to a word and to a sequence, once for each trip.
OnnxBuilder grower() {
  OnnxBuilder model;
  model.input("word", {1}, DataType::kString);
  model.input("trips", {}, DataType::kInt64);
  strings(model, "x", {1}, {"x"});
  OnnxBuilder::set(model.node("SequenceEmpty", {}, {"none"}), "dtype",
                   static_cast<int64_t>(DataType::kString));
  auto& loop = model.node("Loop", {"trips", "", "word", "none"}, {"longer", "all", "each"});
  loop.set_name("Loop1");
  auto& body = *OnnxBuilder::attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  for (const char* name : {"i", "go", "w", "s"}) body.add_input()->set_name(name);
  for (const char* name : {"go", "next", "t", "next"}) body.add_output()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "StringConcat", {"w", "x"}, {"next"});
  OnnxBuilder::add_node(*body.mutable_node(), "SequenceInsert", {"s", "next"}, {"t"});
  for (const char* name : {"longer", "all", "each"}) model.output(name);
  return model;
}

TEST(Strings, LoopsCarryAndCollectThemAndSequencesHoldThem) {
  ConvertOptions options;
  options.max_trips["Loop1"] = 4;
  both(grower(), options, [](SmallPlan& plan, Session& session) {
    for (int64_t trips : {3, 0, 4, 1}) {
      give(session, 0, {"w"});
      session.input<int64_t>(1).value()[0] = trips;
      ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
      Words expected;
      for (int64_t i = 1; i <= trips; ++i) {
        expected.push_back("w" + std::string(static_cast<size_t>(i), 'x'));
      }
      EXPECT_EQ(words_of(session, 0)[0], trips == 0 ? "w" : expected.back());
      const auto all = SequenceView::of(session.output_port(1).value().tensor);
      ASSERT_TRUE(all);
      Words elements;
      for (const TensorView& element : *all) {
        elements.emplace_back(session.string(*element.as<const StringRef>()));
      }
      EXPECT_EQ(elements, expected);
      EXPECT_EQ(words_of(session, 2), expected);
    }
  });
  EXPECT_CONTAINS(conversion_error(grower()), "--max-trips Loop1=N");
}

TEST(Strings, EntryPointsHaveTheirOwn) {
  OnnxBuilder one = brackets(), two;
  two.input("a", {1}, DataType::kString);
  two.node("StringConcat", {"a", "a"}, {"b"});
  two.output("b");
  const std::string first = one.bytes(), second = two.bytes();
  const converter::EntrySource sources[] = {{"one", {}, std::as_bytes(std::span(first))},
                                            {"two", {}, std::as_bytes(std::span(second))}};
  const auto result = converter::convert_entries(sources, {});
  ASSERT_TRUE(std::holds_alternative<converter::Conversion>(result));
  const auto& bytes = std::get<converter::Conversion>(result).plan.bytes;
  converter::AlignedBytes plan(bytes.size());
  std::memcpy(plan.data(), bytes.data(), bytes.size());
  const auto info = plan_info(plan.span());
  ASSERT_TRUE(info.ok());
  converter::AlignedBytes arena(info->arena_bytes);
  auto session = Session::open(plan.span(), arena.span(), converter::builtin_library().kernels());
  ASSERT_TRUE(session.ok());
  give(*session, 0, {"1", "2", "3"}, 0);
  give(*session, 0, {"a"}, 1);
  ASSERT_TRUE(session->run(0).ok());
  ASSERT_TRUE(session->run(1).ok());
  EXPECT_EQ(words_of(*session, 0, 0), (Words{"<1>", "<2>", "<3>"}));
  EXPECT_EQ(words_of(*session, 0, 1), (Words{"aa"}));
  give(*session, 0, {"b"}, 1);
  ASSERT_TRUE(session->run(1).ok());
  EXPECT_EQ(words_of(*session, 0, 0), (Words{"<1>", "<2>", "<3>"})) << "of the other's last run";
  EXPECT_EQ(words_of(*session, 0, 1), (Words{"bb"}));
}

TEST(Strings, StatesOfStringsAreRefused) {
  OnnxBuilder model;
  model.input("x", {1}, DataType::kString);
  model.node("Identity", {"x"}, {"y"});
  model.output("y");
  ConvertOptions options;
  options.states["y"] = "x";
  EXPECT_CONTAINS(conversion_error(model, options), "'x' holds strings, which no run keeps");
}

}  // namespace
}  // namespace intarsia::test
