// SPDX-License-Identifier: Apache-2.0
//
// What a type of operator may say of itself beside `run`: `info.impure`, `check`, `supports`; and
// operators that make strings.
#include <gtest/gtest.h>

#include "test/operators/sample_models.h"

namespace intarsia::test {
namespace {

using converter::ConvertOptions;
using converter::OnnxBuilder;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

onnx::NodeProto& own_node(OnnxBuilder& model, const std::string& type,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
  auto& node = model.node(type, inputs, outputs);
  node.set_domain("own");
  return node;
}

/// y = x + how often one was run before.
int drawn = 0;
template <bool impure_>
struct Draw {
  static constexpr OperatorInfo info{.domain = "own",
                                     .name = impure_ ? "Draw" : "PureDraw",
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .impure = impure_};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + static_cast<float>(drawn);
    ++drawn;
  }
};
using Draws = OperatorList<Draw<true>, Draw<false>>;

/// How often a run executes the operator; conversion executes the impure one never.
int executed(const OnnxBuilder& model, bool impure) {
  drawn = 0;
  SmallPlan plan(model, options_with<Draws>());
  EXPECT_TRUE(!impure || drawn == 0) << "while it was converted";
  auto session = plan.open();
  if (!session.ok()) {
    ADD_FAILURE() << plan.text(plan.diagnostic);
    return -1;
  }
  write(*session, 0, {0, 0});
  drawn = 0;
  EXPECT_TRUE(session->run().ok());
  return drawn;
}

TEST(OwnMembers, WhatIsImpureIsNeitherFoldedNorMergedNorRemoved) {
  for (const bool impure : {true, false}) {
    const std::string type = impure ? "Draw" : "PureDraw";
    const auto start = [] {
      OnnxBuilder model;
      model.input("x", {2});
      model.output("y");
      return model;
    };
    OnnxBuilder constant = start();
    constant.floats("c", {2}, {1, 2});
    own_node(constant, type, {"c"}, {"h"});
    constant.node("Add", {"h", "x"}, {"y"});
    EXPECT_EQ(executed(constant, impure), impure ? 1 : 0) << "constants";

    OnnxBuilder equal = start();
    own_node(equal, type, {"x"}, {"a"});
    own_node(equal, type, {"x"}, {"b"});
    equal.node("Sub", {"a", "b"}, {"y"});
    EXPECT_EQ(executed(equal, impure), impure ? 2 : 1) << "two equal ones";

    OnnxBuilder unread = start();
    own_node(unread, type, {"x"}, {"unread"});
    unread.node("Neg", {"x"}, {"y"});
    EXPECT_EQ(executed(unread, impure), impure ? 1 : 0) << "nobody reads it";
  }
}

/// Two operands with an even number of elements together, of which `check` is the only one to know.
struct Paired {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Paired", .inputs = {"x", "z"}, .outputs = {"y"}};
  static inline bool lenient = false;
  static inline int asked = 0;
  static Status check(const KernelContext& context) {
    ++asked;
    const int64_t count = context.input(0).count() + context.input(1).count();
    if (lenient || count % 2 == 0) return {};
    return context.fail(Code::kInvalidValue, "an odd number of elements: {}", 0, count);
  }
  static void run(Input<float> x, Input<float>, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
};

OnnxBuilder paired(int64_t x, int64_t z) {
  OnnxBuilder model;
  model.input("x", {x});
  model.input("z", {z});
  model.output("y");
  own_node(model, "Paired", {"x", "z"}, {"y"});
  return model;
}

TEST(OwnMembers, WhatCheckRefusesIsAnErrorOfTheConversionWithTheNodesName) {
  const ConvertOptions options = options_with<OperatorList<Paired>>();
  EXPECT_EQ(conversion_error(paired(3, 5), options), "");
  EXPECT_EQ(conversion_error(paired(3, 4), options),
            "node 'Paired1' (own:Paired): an odd number of elements: 7");
}

TEST(OwnMembers, CheckIsAskedAtOpenAndAgainWhereExtentsVary) {
  const ConvertOptions options = options_with<OperatorList<Paired>>();
  Paired::lenient = true;
  SmallPlan plan(paired(3, 4), options);
  OnnxBuilder symbolic = paired(0, 2);
  symbol(*symbolic.graph().mutable_input(0), 0, "n");
  ConvertOptions ranged = options;
  ranged.dims["n"] = converter::DimRange{1, 4};
  SmallPlan varying(symbolic, ranged);
  Paired::lenient = false;
  EXPECT_EQ(plan.open().status().code(), Code::kInvalidValue);
  EXPECT_EQ(plan.text(plan.diagnostic),
            "node 0 'Paired1' (own:Paired): an odd number of elements: 7");

  auto session = varying.open();
  ASSERT_TRUE(session.ok()) << varying.text(varying.diagnostic);
  for (const int32_t n : {2, 3, 4}) {
    Paired::asked = 0;
    ASSERT_TRUE(session->resize_input(0, {&n, 1}).ok());
    write(*session, 0, Floats(static_cast<size_t>(n), 1));
    EXPECT_EQ(session->run().code(), n % 2 == 0 ? Code::kOk : Code::kInvalidValue) << n;
    EXPECT_GT(Paired::asked, 0) << n;
    if (n % 2 != 0) {
      EXPECT_EQ(varying.text(session->diagnostic()),
                "node 0 'Paired1' (own:Paired): an odd number of elements: 5");
    }
  }
}

/// y = x + 1 for few elements and mode 0, by `supports`, else y = x + 10 by a kernel for any type.
struct Chosen {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Chosen", .inputs = {"x"}, .outputs = {"y"}};
  struct Attributes {
    int32_t mode = 0;
    template <class V>
    void fields(V& v) {
      v("mode", mode);
    }
  };
};
struct ChosenForFew : Chosen {
  static bool supports(const KernelContext& context) {
    return context.attributes<Attributes>().mode == 0 && context.input(0).count() <= 4;
  }
  static void run(const Attributes&, Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + 1;
  }
};
struct ChosenForRest : Chosen {
  static void run(const Attributes&, Input<Any> x, Output<Any> y) {
    for (int64_t i = 0; i < x.view().count(); ++i) {
      y.view().as<float>()[i] = x.view().as<const float>()[i] + 10;
    }
  }
};

OnnxBuilder chosen(int64_t count, int64_t mode) {
  OnnxBuilder model;
  model.input("x", {count});
  model.output("y");
  OnnxBuilder::set(own_node(model, "Chosen", {"x"}, {"y"}), "mode", mode);
  return model;
}

TEST(OwnMembers, SupportsDecidesByAttributesAndExtentsWhichKernelServes) {
  const auto both = options_with<OperatorList<ChosenForFew, ChosenForRest>>();
  EXPECT_EQ(run_once(chosen(4, 0), Floats(4, 1), both), Floats(4, 2));
  EXPECT_EQ(run_once(chosen(5, 0), Floats(5, 1), both), Floats(5, 11));
  EXPECT_EQ(run_once(chosen(4, 1), Floats(4, 1), both), Floats(4, 11));
  const auto one = options_with<OperatorList<ChosenForFew>>();
  EXPECT_EQ(conversion_error(chosen(4, 0), one), "");
  for (const auto& [count, mode] : {std::pair<int64_t, int64_t>{5, 0}, {4, 1}}) {
    EXPECT_EQ(conversion_error(chosen(count, mode), one),
              "node 'Chosen1' (own:Chosen): no kernel for T = float with these attributes and "
              "extents; there are kernels for T = float");
  }
}

/// y = x and "!"s, as many as `times` says.
struct Shout {
  static constexpr OperatorInfo info{.domain = "own",
                                     .name = "Shout",
                                     .inputs = {{"x", "S"}, {"times", "I"}},
                                     .outputs = {{"y", "S"}}};
  static Status run(const KernelContext& context, Input<StringRef> x, int64_t times,
                    Output<StringRef> y) {
    for (int64_t i = 0; i < x.size(); ++i) {
      const std::string text =
          std::string(context.string(x[i])) + std::string(static_cast<size_t>(times), '!');
      char* at = nullptr;
      if (Status status = context.add_string(text.size(), y[i], at); !status) return status;
      std::copy(text.begin(), text.end(), at);
    }
    return {};
  }
};
/// The same text for every element, from operands that name no strings.
struct Describe {
  static constexpr OperatorInfo info{.domain = "own",
                                     .name = "Describe",
                                     .inputs = {{"x", "T"}, {"n", "I"}, {"d", "D"}},
                                     .outputs = {{"y", "S"}}};
  template <class S>
  static Status infer(S& s) {
    return s.set_output(0, DataType::kString, s.shape(0));
  }
  static Status run(const KernelContext& context, Input<float> x, int64_t n, double d,
                    Output<StringRef> y) {
    for (int64_t i = 0; i < x.size(); ++i) {
      const std::string text =
          std::to_string(static_cast<int>(x[i] * static_cast<float>(d)) + static_cast<int>(n));
      char* at = nullptr;
      if (Status status = context.add_string(text.size(), y[i], at); !status) return status;
      std::copy(text.begin(), text.end(), at);
    }
    return {};
  }
};
using TextOperators = OperatorList<Shout, Describe>;

Words words_of(const Session& session) {
  Words words;
  for (const StringRef& element : session.output<StringRef>(0).value()) {
    words.emplace_back(session.string(element));
  }
  return words;
}

/// y = Shout(Shout(x, 2), 2), or of constants.
OnnxBuilder shouts(bool constant) {
  OnnxBuilder model;
  const int64_t times = 2;
  model.initializer("times", DataType::kInt64, {}, &times, sizeof(times));
  model.input(constant ? "other" : "x", {2}, DataType::kString);
  if (constant) {
    auto& tensor = *model.graph().add_initializer();
    tensor.set_name("x");
    tensor.set_data_type(static_cast<int32_t>(DataType::kString));
    tensor.add_dims(2);
    for (const char* word : {"who", ""}) tensor.add_string_data(word);
  }
  own_node(model, "Shout", {"x", "times"}, {"h"});
  own_node(model, "Shout", {"h", "times"}, {"y"});
  model.output("y");
  return model;
}

TEST(OwnMembers, AnOperatorMakesStringsWithinTheRoomThatThePlanHas) {
  ConvertOptions options = options_with<TextOperators>();
  options.max_string = 5;  // 10 bytes for the input and for each node: 30
  SmallPlan plan(shouts(false), options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const auto run = [&](const Words& words) {
    const auto x = session->input<StringRef>(0).value();
    for (size_t i = 0; i < words.size(); ++i) x[i] = session->add_string(words[i]).value();
    return session->run();
  };
  for (const char* word : {"ab", "c"}) {  // the room is there for every run
    ASSERT_TRUE(run({word, "abcd"}).ok()) << plan.text(session->diagnostic());
    EXPECT_EQ(words_of(*session), (Words{std::string(word) + "!!!!", "abcd!!!!"}));
  }
  // 6 + 10 + 14: all that there is. One more is too many.
  ASSERT_TRUE(run({"abc", "def"}).ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(run({"abcd", "def"}).code(), Code::kTooManyCharacters);
  EXPECT_CONTAINS(plan.text(session->diagnostic()), "'Shout2' (own:Shout): characters of strings");
}

TEST(OwnMembers, StringsOfConstantsAreMadeByTheConverter) {
  const ConvertOptions options = options_with<TextOperators>();
  SmallPlan plan(shouts(true), options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(words_of(*session), (Words{"who!!!!", "!!!!"}));
  EXPECT_EQ(plan.conversion.plan.summary.kernels.size(), 1U) << "a copy alone is left";
  EXPECT_FALSE(converter::contains(plan.conversion.plan.summary.kernels[0].text, "Shout"));
}

TEST(OwnMembers, AnOperatorWhoseKernelIsNotSelectedByItsStringsHasRoomForThem) {
  ConvertOptions options = options_with<TextOperators>();
  options.max_string = 8;
  OnnxBuilder model;
  model.input("x", {2});
  const int64_t n = 1;
  const double d = 10;
  model.initializer("n", DataType::kInt64, {}, &n, sizeof(n));
  model.initializer("d", DataType::kDouble, {}, &d, sizeof(d));
  own_node(model, "Describe", {"x", "n", "d"}, {"y"});
  model.output("y");
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, {1, 100});
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(words_of(*session), (Words{"11", "1001"}));
}

}  // namespace
}  // namespace intarsia::test
