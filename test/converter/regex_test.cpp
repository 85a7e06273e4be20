// SPDX-License-Identifier: Apache-2.0
//
// Patterns become tables: what they accept, how large they are, and what is refused. Beside RE2
// itself: test/nodes/text_test.py.
#include "converter/regex/automaton.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace intarsia::converter::regex {
namespace {

bool accepts(const Table& table, std::string_view text) {
  size_t state = table.accepting.size() > 1 ? 1 : 0;
  for (const char c : text) {
    const auto classes = static_cast<size_t>(table.classes.count);
    state = table.transitions[state * classes + table.classes.of_byte[static_cast<uint8_t>(c)]];
  }
  return table.accepting[state] != 0;
}

bool accepts(const StateLists& lists, std::string_view text) {
  std::set<size_t> states = {0};
  for (const char c : text) {
    std::set<size_t> then;
    for (const size_t state : states) {
      const size_t place = state * static_cast<size_t>(lists.classes.count) +
                           lists.classes.of_byte[static_cast<uint8_t>(c)];
      const size_t end = place + 1 < lists.begins.size()
                             ? static_cast<size_t>(lists.begins[place + 1])
                             : lists.next.size();
      for (auto i = static_cast<size_t>(lists.begins[place]); i < end; ++i) {
        then.insert(static_cast<size_t>(lists.next[i]));
      }
    }
    states = std::move(then);
  }
  return std::any_of(states.begin(), states.end(),
                     [&](size_t state) { return lists.accepting[state] != 0; });
}

Table table_of(const std::string& pattern) {
  std::optional<Table> table = determine(compile(pattern));
  EXPECT_TRUE(table.has_value()) << pattern;
  return table ? *table : Table{{std::vector<uint8_t>(256), 1}, {0}, {0}};
}

TEST(Regex, AcceptsWhatMatchesAsAWhole) {
  struct Case {
    const char* pattern;
    std::vector<std::string> accepted, others;
  };
  for (const Case& each : std::vector<Case>{
           {"(a|b)*abb", {"abb", "babb", "aabb"}, {"", "ab", "abba"}},
           {"a{2,3}", {"aa", "aaa"}, {"a", "aaaa"}},
           {"a{,2}", {"a{,2}"}, {"aa"}},
           {".", {"a", "\xc3\xa9", "\xf0\x9f\x98\x80"}, {"", "\n", "\xc3", "\xff", "\xc0\x80"}},
           {"(?s).", {"\n"}, {"ab"}},
           {"(?m)a$\n^b", {"a\nb"}, {"ab"}},
           {"a$|b", {"a", "b"}, {"a\n"}},
           {"\\ba\\b.*", {"a", "a b"}, {"ab", "a_"}},
           {"\\B", {""}, {"a"}},
           {"(?i)stra\xc3\x9f"
            "e",
            {"STRA\xe1\xba\x9e"
             "E"},
            {"strasse"}},
           {"(?i)[^k]", {"l"}, {"k", "K", "\xe2\x84\xaa"}},
           {"[]a-c-]+", {"]", "a-b"}, {"d"}},
           {"\\p{Lu}\\p{^Lu}", {"\xc3\x89\xc3\xa9", "A1"}, {"AA"}},
           {"\\Q.*\\E", {".*"}, {"ab"}},
           {"\\x41\\x{1f600}\\101",
            {"A\xf0\x9f\x98\x80"
             "A"},
            {"AA"}},
           {"[^\\x00-\\x{10FFFF}]", {}, {"", "a"}},
           {"", {""}, {"a"}}}) {
    const StateLists lists = compile(each.pattern);
    const Table table = table_of(each.pattern);
    for (const std::string& text : each.accepted) {
      EXPECT_TRUE(accepts(table, text)) << each.pattern << " of '" << text << "'";
      EXPECT_TRUE(accepts(lists, text)) << each.pattern << " of '" << text << "'";
    }
    for (const std::string& text : each.others) {
      EXPECT_FALSE(accepts(table, text)) << each.pattern << " of '" << text << "'";
      EXPECT_FALSE(accepts(lists, text)) << each.pattern << " of '" << text << "'";
    }
  }
}

TEST(Regex, TablesAreSmall) {
  EXPECT_EQ(table_of("(x+x+)+y").accepting.size(), 5u);
  EXPECT_EQ(table_of("(a*)*").accepting.size(), 2u);
  EXPECT_EQ(table_of("(((a?){3}){3}){3}").accepting.size(), 29u);
  EXPECT_EQ(table_of("[^\\x00-\\x{10FFFF}]").accepting.size(), 1u);
  EXPECT_EQ(table_of("(cat|cot|cut)").accepting.size(), 5u);
  EXPECT_FALSE(determine(compile(".*a.{20}")).has_value()) << "a table of 2^20 states";
}

TEST(Regex, RefusesByName) {
  const auto message = [](const std::string& pattern) -> std::string {
    try {
      compile(pattern);
    } catch (const PatternError& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto expect = [&](const std::string& pattern, const std::string& part) {
    EXPECT_NE(message(pattern).find(part), std::string::npos)
        << pattern.substr(0, 40) << ": " << message(pattern);
  };
  expect("ab(c", "missing ) at byte 4");
  expect("a)", "unexpected )");
  expect("a|*", "nothing to repeat before *");
  expect("a+*", "repetition of a repetition by *");
  expect("[[:foo:]]", "[:foo:]");
  expect("(a)\\1", "back reference \\1");
  expect("(?=a)", "(?= is not supported");
  expect("(?<=a)", "(?<= is not supported");
  expect("\\p{Greek}", "\\p{Greek}");
  expect("\\y", "\\y");
  expect("\xff", "no UTF-8");
  expect("(a{1000}){1000}", "too large");
  expect("(((((((((){1000}){1000}){1000}){1000}){1000}){1000}){1000}){1000}){1000}", "too large");
  expect(std::string(100'000, '('), "nested too deeply");
}

}  // namespace
}  // namespace intarsia::converter::regex
