// SPDX-License-Identifier: Apache-2.0
//
// What operators make of strings where ONNX's own cases say nothing: letters of every script and
// bytes that are none, numbers at their limits, parts of strings without any.
#include <cmath>
#include <limits>

#include "intarsia/thread_team.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;
using Words = std::vector<std::string>;

/// A plan of one node from x to y, open.
class OneNode {
 public:
  OneNode(OnnxBuilder& model, const ConvertOptions& options = {}, int threads = 1)
      : plan_(model, options), team_(threads), session_(plan_.open(on(team_))) {
    EXPECT_TRUE(session_.ok()) << plan_.text(plan_.diagnostic);
  }

  Session& session() { return *session_; }
  std::string text() { return plan_.text(session_->diagnostic()); }
  Status give(const Words& words) {
    const auto elements = session_->input<StringRef>(0).value();
    EXPECT_EQ(elements.size(), words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      elements[i] = session_->add_string(words[i]).value();
    }
    return session_->run();
  }
  Words words(int output = 0) {
    Words words;
    for (const StringRef& element : session_->output<StringRef>(output).value()) {
      words.emplace_back(session_->string(element));
    }
    return words;
  }

 private:
  static SessionOptions on(const ThreadTeam& team) {
    SessionOptions options;
    options.parallel = &team.parallel();
    return options;
  }

  SmallPlan plan_;
  ThreadTeam team_;
  Result<Session> session_;
};

OnnxBuilder normalizer(int64_t count, const char* action, const Words& stopwords,
                       int64_t case_sensitive) {
  OnnxBuilder model;
  model.input("x", {count}, DataType::kString);
  auto& node = model.node("StringNormalizer", {"x"}, {"y"});
  OnnxBuilder::set(node, "case_change_action", action);
  OnnxBuilder::set(node, "is_case_sensitive", case_sensitive);
  auto& list = OnnxBuilder::attribute(node, "stopwords", onnx::AttributeProto::STRINGS);
  for (const std::string& word : stopwords) list.add_strings(word);
  model.output("y");
  return model;
}

TEST(StringNormalizer, ChangesLettersOfEveryScript) {
  const Words mixed{
      "Stra\xc3\x9f"
      "e",
      "\xc3\x89t\xc3\xa9",
      "\xce\xa3\xce\xbf\xcf\x86\xce\xaf\xce\xb1",
      "\xd0\x96\xd1\x83\xd0\xba",
      "\xf0\x90\x90\x80\xf0\x90\x90\xa8",
      "\xe2\xb1\xa5 1",
      "\xff\xc3Z\xed\xa0\x80z"};
  // The last two: a letter of three bytes whose capital has two, and bytes that are no letters.
  OnnxBuilder model = normalizer(7, "UPPER", {}, 0);
  OneNode upper(model);
  ASSERT_TRUE(upper.give(mixed).ok());
  EXPECT_EQ(upper.words(), (Words{"STRA\xc3\x9f"
                                  "E",
                                  "\xc3\x89T\xc3\x89", "\xce\xa3\xce\x9f\xce\xa6\xce\x8a\xce\x91",
                                  "\xd0\x96\xd0\xa3\xd0\x9a", "\xf0\x90\x90\x80\xf0\x90\x90\x80",
                                  "\xc8\xba 1", "\xff\xc3Z\xed\xa0\x80Z"}));
  OnnxBuilder other = normalizer(7, "LOWER", {}, 0);
  OneNode lower(other);
  ASSERT_TRUE(lower.give(mixed).ok());
  EXPECT_EQ(lower.words(), (Words{"stra\xc3\x9f"
                                  "e",
                                  "\xc3\xa9t\xc3\xa9", "\xcf\x83\xce\xbf\xcf\x86\xce\xaf\xce\xb1",
                                  "\xd0\xb6\xd1\x83\xd0\xba", "\xf0\x90\x90\xa8\xf0\x90\x90\xa8",
                                  "\xe2\xb1\xa5 1", "\xff\xc3z\xed\xa0\x80z"}));
}

TEST(StringNormalizer, DropsStopWords) {
  const Words words{"The", "the", "\xc3\x89T\xc3\x89", "end"};
  const Words stopwords{"the", "\xc3\xa9t\xc3\xa9"};
  OnnxBuilder sensitive = normalizer(4, "NONE", stopwords, 1);
  OneNode one(sensitive);
  ASSERT_TRUE(one.give(words).ok());
  EXPECT_EQ(one.words(), (Words{"The", "\xc3\x89T\xc3\x89", "end"}));
  OnnxBuilder insensitive = normalizer(4, "UPPER", stopwords, 0);
  OneNode two(insensitive);
  ASSERT_TRUE(two.give(words).ok());
  EXPECT_EQ(two.words(), (Words{"END"}));
  ASSERT_TRUE(two.give({"the", "THE", "tHe", "The"}).ok());
  EXPECT_EQ(two.words(), (Words{""})) << "one empty string where nothing is left";
}

TEST(StringNormalizer, ManyWordsWhateverTheThreads) {
  Words words;
  for (int i = 0; i < 3000; ++i) {
    words.push_back(i % 3 == 0 ? "stop"
                               : std::string(static_cast<size_t>(i % 7), 'a') + std::to_string(i));
  }
  Words expected;
  for (const std::string& word : words) {
    if (word == "stop") continue;
    expected.push_back(word);
    for (char& c : expected.back()) c = c == 'a' ? 'A' : c;
  }
  for (const int threads : {1, 3}) {
    ConvertOptions options;
    options.threads = threads;
    options.max_string = 16;
    OnnxBuilder model = normalizer(3000, "UPPER", {"stop"}, 1);
    OneNode upper(model, options, threads);
    ASSERT_TRUE(upper.give(words).ok()) << upper.text();
    EXPECT_EQ(upper.words(), expected);
    OnnxBuilder other = normalizer(3000, "NONE", {"stop"}, 1);
    OneNode same(other, options, threads);
    ASSERT_TRUE(same.give(words).ok()) << same.text();
    EXPECT_EQ(same.words().size(), expected.size());
    EXPECT_EQ(same.words().back(), words.back());
  }
}

OnnxBuilder splitter(const char* delimiter, int64_t maxsplit, int64_t count = 2) {
  OnnxBuilder model;
  model.input("x", {count}, DataType::kString);
  auto& node = model.node("StringSplit", {"x"}, {"y", "z"});
  if (delimiter != nullptr) OnnxBuilder::set(node, "delimiter", delimiter);
  if (maxsplit >= 0) OnnxBuilder::set(node, "maxsplit", maxsplit);
  model.output("y");
  model.output("z");
  return model;
}

TEST(StringSplit, ManyStringsWhateverTheThreads) {
  Words x, expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(i);
    x.push_back(i % 2 == 0 ? number : number + "," + number);
    expected.push_back(number);
    expected.push_back(i % 2 == 0 ? "" : number);
  }
  for (const int threads : {1, 3}) {
    ConvertOptions options;
    options.threads = threads;
    options.bounds["y"] = {3000, 2};
    OnnxBuilder model = splitter(",", -1, 3000);
    OneNode split(model, options, threads);
    ASSERT_TRUE(split.give(x).ok()) << split.text();
    EXPECT_EQ(split.words(), expected);
  }
}

TEST(StringSplit, SplitsAsPythonDoes) {
  struct Case {
    const char* delimiter;
    int64_t maxsplit;
    Words x, y;
    std::vector<int64_t> z;
  };
  for (const Case& each :
       std::vector<Case>{{nullptr, -1, {" a  b ", ""}, {"a", "b", "", ""}, {2, 0}},
                         {nullptr, 1, {" a  b c ", "\t"}, {"a", "b c ", "", ""}, {2, 0}},
                         {",", -1, {"a,,b", ","}, {"a", "", "b", "", "", ""}, {3, 2}},
                         {",", 0, {"a,b", ""}, {"a,b", ""}, {1, 1}},
                         {"--", 1, {"a---b--c", "x"}, {"a", "-b--c", "x", ""}, {2, 1}},
                         {nullptr, -1, {"", " "}, {}, {0, 0}}}) {
    OnnxBuilder model = splitter(each.delimiter, each.maxsplit);
    ConvertOptions options;
    options.bounds["y"] = {2, 5};
    OneNode split(model, options);
    ASSERT_TRUE(split.give(each.x).ok()) << split.text();
    EXPECT_EQ(split.words(), each.y) << each.x[0];
    const auto z = split.session().output<int64_t>(1).value();
    EXPECT_EQ(std::vector<int64_t>(z.begin(), z.end()), each.z);
  }
}

OnnxBuilder cast(DataType from, DataType to, int64_t count) {
  OnnxBuilder model;
  model.input("x", {count}, from);
  OnnxBuilder::set(model.node("Cast", {"x"}, {"y"}), "to", static_cast<int64_t>(to));
  model.output("y");
  return model;
}

TEST(StringCast, WritesNumbers) {
  OnnxBuilder model = cast(DataType::kFloat, DataType::kString, 9);
  OneNode floats(model);
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> x{0, -0.0f, 1, 100000, 3.14159265f, 1e-10f, 1e20f, -infinite, NAN};
  std::copy(x.begin(), x.end(), floats.session().input<float>(0).value().begin());
  ASSERT_TRUE(floats.session().run().ok());
  EXPECT_EQ(floats.words(),
            (Words{"0", "-0", "1", "100000", "3.1415927", "1e-10", "1e+20", "-INF", "NaN"}));
  OnnxBuilder other = cast(DataType::kInt64, DataType::kString, 3);
  OneNode integers(other);
  const std::vector<int64_t> limits{INT64_MIN, 0, INT64_MAX};
  std::copy(limits.begin(), limits.end(), integers.session().input<int64_t>(0).value().begin());
  ASSERT_TRUE(integers.session().run().ok());
  EXPECT_EQ(integers.words(), (Words{"-9223372036854775808", "0", "9223372036854775807"}));
}

TEST(StringCast, ReadsNumbersAndRefusesTheRest) {
  OnnxBuilder model = cast(DataType::kString, DataType::kFloat, 1);
  OneNode floats(model);
  for (const auto& [word, expected] : std::vector<std::pair<std::string, double>>{
           {"3.14", 3.14},
           {" -1E3\n", -1000},
           {"+7", 7},
           {"1e99", HUGE_VAL},
           {"-1e99", -HUGE_VAL},
           {"1e-99", 0},
           {"0." + std::string(60, '0') + "1", 0},
           {"0." + std::string(60, '0') + "1e200", HUGE_VAL},
           {std::string(60, '9') + "e-200", 0},
           {"1" + std::string(60, '0'), HUGE_VAL},
           {std::string(200, '9') + "e-100", HUGE_VAL},
           {"-1e-99999999999999999999", 0},
           {"1e99999999999999999999", HUGE_VAL},
           {"+INF", HUGE_VAL},
           {"-inf", -HUGE_VAL},
           {"1000", 1000}}) {
    ASSERT_TRUE(floats.give({word}).ok()) << word;
    EXPECT_EQ(floats.session().output<float>(0).value()[0], static_cast<float>(expected)) << word;
  }
  ASSERT_TRUE(floats.give({"nan"}).ok());
  EXPECT_TRUE(std::isnan(floats.session().output<float>(0).value()[0]));
  for (const char* word : {"", " ", "x", "1x", "1 2", "+-1", "--1", "0x10", "1e", "+"}) {
    EXPECT_EQ(floats.give({word}).code(), Code::kInvalidValue) << word;
    EXPECT_CONTAINS(floats.text(), "a string that is no number, at element");
  }
  OnnxBuilder other = cast(DataType::kString, DataType::kInt8, 1);
  OneNode integers(other);
  for (const auto& [word, expected] : std::vector<std::pair<std::string, int>>{
           {"-128", -128}, {"100.9", 100}, {"1e9", 127}, {"-1e9", -128}, {"0", 0}}) {
    ASSERT_TRUE(integers.give({word}).ok()) << word;
    EXPECT_EQ(integers.session().output<int8_t>(0).value()[0], expected) << word;
  }
  for (const char* word : {"++1", "+ 1", "+-1", "-+1", "1 2", ""}) {
    EXPECT_EQ(integers.give({word}).code(), Code::kInvalidValue) << word;
  }
}

/// Numbers as strings, each twice, one behind the other.
OnnxBuilder doubled(int64_t count) {
  OnnxBuilder model;
  model.input("x", {count}, DataType::kInt64);
  OnnxBuilder::set(model.node("Cast", {"x"}, {"s"}), "to", int64_t{8});
  model.node("StringConcat", {"s", "s"}, {"y"});
  model.output("y");
  return model;
}

TEST(StringsOfThreads, AreThoseOfOne) {
  constexpr int64_t kCount = 3001;
  for (const int threads : {1, 3}) {
    ConvertOptions options;
    options.threads = threads;
    options.max_string = 4;  // some numbers have four digits, doubled ones eight
    OnnxBuilder model = doubled(kCount);
    OneNode node(model, options, threads);
    const auto x = node.session().input<int64_t>(0).value();
    Words expected;
    for (int64_t i = 0; i < kCount; ++i) {
      x[static_cast<size_t>(i)] = i % 50;
      expected.push_back(std::to_string(i % 50) + std::to_string(i % 50));
    }
    for (const bool fits : {true, false, true}) {
      x[1000] = fits ? 7 : 1234567;
      for (int64_t i = 1001; i < 2500; ++i) x[static_cast<size_t>(i)] = fits ? i % 50 : 1000000 + i;
      const Status status = node.session().run();
      if (fits) {
        ASSERT_TRUE(status.ok()) << node.text();
        expected[1000] = "77";
        EXPECT_EQ(node.words(), expected);
      } else {
        EXPECT_EQ(status.code(), Code::kTooManyCharacters) << threads;
        EXPECT_CONTAINS(node.text(), "characters of strings");
      }
    }
  }
}

TEST(StringsOfThreads, FirstThatIsNoNumberIsNamed) {
  constexpr int64_t kCount = 3001;
  Words words;
  for (int64_t i = 0; i < kCount; ++i) words.push_back(std::to_string(i % 16 - 8));
  for (const DataType type : {DataType::kInt64, DataType::kInt4}) {
    for (const int threads : {1, 3}) {
      ConvertOptions options;
      options.threads = threads;
      OnnxBuilder model = cast(DataType::kString, type, kCount);
      OneNode node(model, options, threads);
      ASSERT_TRUE(node.give(words).ok()) << node.text();
      const auto* bytes = node.session().output_port(0)->tensor.as<const uint8_t>();
      for (size_t i = 0; i < kCount; ++i) {
        const auto number = static_cast<int64_t>(i % 16) - 8;
        if (type == DataType::kInt64) {
          ASSERT_EQ(reinterpret_cast<const int64_t*>(bytes)[i], number);
        } else {
          ASSERT_EQ(bytes[i / 2] >> i % 2 * 4 & 15, number & 15) << i;
        }
      }
      Words wrong = words;
      wrong[2999] = wrong[1234] = "none";
      EXPECT_EQ(node.give(wrong).code(), Code::kInvalidValue);
      EXPECT_CONTAINS(node.text(), "1234");
    }
  }
}

}  // namespace
}  // namespace intarsia::test
