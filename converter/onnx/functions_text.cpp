// SPDX-License-Identifier: Apache-2.0
//
// Operators on text of which the converter makes its own: pools of n-grams become tries, patterns
// automata, constants of the plan.
// Source: onnx/docs/Operators.md (RegexFullMatch, TfIdfVectorizer), and ONNX Runtime (Tokenizer).
#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "converter/onnx/lookup_steps.h"
#include "converter/regex/automaton.h"
#include "core/operators/strings/ngrams.h"

namespace intarsia::converter::version_steps {
namespace {

constexpr const char* kSyntax = "the syntax is https://github.com/google/re2/wiki/Syntax";

/// The tokens of a pool as numbers, and X in the same numbers.
struct Tokens {
  std::vector<int32_t> pool;
  Value* x = nullptr;
};

template <class T>
std::vector<T> numbered(const std::vector<T>& pool, std::vector<int32_t>& numbers) {
  std::map<T, int32_t> number_of;
  std::vector<T> vocabulary;
  for (const T& token : pool) {
    const auto [found, fresh] =
        number_of.try_emplace(token, static_cast<int32_t>(vocabulary.size()));
    if (fresh) vocabulary.push_back(token);
    numbers.push_back(found->second);
  }
  return vocabulary;
}

Tokens tokens_of(Node& node) {
  const std::vector<std::string> strings = texts(node, "pool_strings");
  const std::vector<int64_t> integers = node.integers("pool_int64s");
  if (strings.empty() == integers.empty()) {
    fail(node, "gives its pool by both or neither of 'pool_strings' and 'pool_int64s'",
         "exactly one of them has to list the n-grams");
  }
  Tokens tokens;
  Value* x = node.input(0);
  if (!strings.empty()) {
    tokens.x = look_up(node, x, strings_of(numbered(strings, tokens.pool)));
  } else {
    if (known_type(node, 0, "X") == DataType::kInt32) x = as_type(node, x, DataType::kInt64);
    tokens.x = look_up(node, x, Constant::ints(numbered(integers, tokens.pool)));
  }
  return tokens;
}

struct Gram {
  std::span<const int32_t> tokens;
  int64_t column = 0;
  float weight = 1;
};

/// The trie of a pool (core/operators/strings/ngrams.h).
class TrieBuilder {
 public:
  /// Of n-grams that are equal the last one counts.
  void add(const Gram& gram) {
    int32_t node = 0;
    for (const int32_t token : gram.tokens) {
      const auto fresh = static_cast<int32_t>(ngrams_.size());
      const auto [edge, added] = edges_.try_emplace({node, token}, fresh);
      if (added) {
        ngrams_.push_back(-1);
        weights_.push_back(0);
      }
      node = edge->second;
    }
    ngrams_[static_cast<size_t>(node)] = static_cast<int32_t>(gram.column);
    weights_[static_cast<size_t>(node)] = gram.weight;
  }

  Constant edges() const {
    const auto slots = static_cast<int64_t>(2 * edges_.size() + 1);
    std::vector<int32_t> rows(static_cast<size_t>(slots * kEdgeNumbers), -1);
    for (const auto& edge : edges_) {
      const auto& from = edge.first;
      visit_slots(edge_hash(from.first, from.second), slots, [&](int64_t slot) {
        int32_t* row = rows.data() + slot * kEdgeNumbers;
        if (row[0] >= 0) return false;
        row[0] = from.first;
        row[1] = from.second;
        row[2] = edge.second;
        return true;
      });
    }
    return Constant::of<int32_t>({slots, kEdgeNumbers}, rows);
  }
  Constant ngrams() const {
    return Constant::of<int32_t>({static_cast<int64_t>(ngrams_.size())}, ngrams_);
  }
  Constant weights() const {
    return Constant::of<float>({static_cast<int64_t>(weights_.size())}, weights_);
  }

 private:
  std::map<std::pair<int32_t, int32_t>, int32_t> edges_;
  std::vector<int32_t> ngrams_ = {-1};
  std::vector<float> weights_ = {0};
};

/// The n-grams of a pool, in its order: first single tokens, then pairs, and so on.
std::vector<Gram> grams_of(const Node& node, std::span<const int32_t> pool,
                           const std::vector<int64_t>& columns, const std::vector<float>& weights) {
  const std::vector<int64_t> begins = node.integers("ngram_counts");
  const auto size = static_cast<int64_t>(pool.size());
  std::vector<Gram> grams;
  for (size_t i = 0; i < begins.size(); ++i) {
    const auto length = static_cast<int64_t>(i) + 1;
    const int64_t end = i + 1 < begins.size() ? begins[i + 1] : size;
    if (begins[i] < 0 || begins[i] > end || end > size || (end - begins[i]) % length != 0) {
      fail(node,
           "attribute 'ngram_counts' lets the " + std::to_string(length) + "-grams lie in [" +
               std::to_string(begins[i]) + ", " + std::to_string(end) + ") of a pool of " +
               std::to_string(size),
           "each element is where n-grams of one length begin; they have to be whole ones");
    }
    for (int64_t at = begins[i]; at < end; at += length) {
      if (grams.size() == columns.size()) {
        fail(node, "attribute 'ngram_indexes' has " + std::to_string(columns.size()) +
                       " elements, fewer than the pool has n-grams");
      }
      const size_t number = grams.size();
      grams.push_back({pool.subspan(static_cast<size_t>(at), static_cast<size_t>(length)),
                       columns[number], weights.empty() ? 1 : weights[number]});
    }
  }
  return grams;
}

int64_t required(const Node& node, const char* name, int64_t lowest) {
  if (node.attribute(name) == nullptr)
    fail(node, "lacks the attribute '" + std::string(name) + "'");
  const int64_t value = node.integer(name, 0);
  if (value < lowest || value > INT32_MAX) {
    fail(node, "attribute '" + std::string(name) + "' is " + std::to_string(value) +
                   "; it has to lie in " + std::to_string(lowest) + " to " +
                   std::to_string(INT32_MAX));
  }
  return value;
}

// -- RegexFullMatch

Value* flags(Node& node, const char* name, const std::vector<uint8_t>& values) {
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  return constant(node, name,
                  Constant::own(DataType::kBool, {static_cast<int64_t>(values.size())},
                                {first, first + values.size()}));
}

template <class T>
Value* numbers(Node& node, const char* name, const std::vector<T>& values,
               std::vector<int64_t> extents) {
  return constant(node, name, Constant::of<T>(std::move(extents), values));
}

/// Input 0, and a pattern that it is matched with.
std::vector<Value*> with_table(Node& node, const regex::Table& table) {
  const auto states = static_cast<int64_t>(table.accepting.size());
  return {node.input(0), numbers(node, "classes", table.classes.of_byte, {256}),
          numbers(node, "transitions", table.transitions, {states, table.classes.count}),
          flags(node, "accepting", table.accepting)};
}

Value* matched(Node& node, const regex::Table& table) {
  return emit_own(node, "RegexFullMatch", with_table(node, table), {});
}

Value* matched(Node& node, const regex::StateLists& lists) {
  const auto states = static_cast<int64_t>(lists.accepting.size());
  const auto listed = static_cast<int64_t>(lists.next.size());
  return emit_own(
      node, "RegexStates",
      {node.input(0), numbers(node, "classes", lists.classes.of_byte, {256}),
       numbers(node, "begins", lists.begins, {states, lists.classes.count}),
       numbers(node, "next", lists.next, {listed}), flags(node, "accepting", lists.accepting)},
      {});
}

}  // namespace

/// Tokens become numbers first, so that each is hashed once. Weights are those of n-grams, as the
/// specification and ONNX Runtime have it; in the reference implementation they are of columns.
void tf_idf_vectorizer(Node& node) {
  require_input(node, 0, "X");
  const int64_t least = required(node, "min_gram_length", 1);
  const int64_t most = required(node, "max_gram_length", least);
  const int64_t skips = required(node, "max_skip_count", 0);
  const std::string mode = node.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    fail(node, "attribute 'mode' is '" + mode + "'; it has to be TF, IDF or TFIDF");
  }
  const std::vector<int64_t> indexes = node.integers("ngram_indexes");
  if (indexes.empty()) fail(node, "lacks the attribute 'ngram_indexes'");
  const auto [low, high] = std::minmax_element(indexes.begin(), indexes.end());
  if (*low < 0 || *high >= INT32_MAX) {
    fail(node, "attribute 'ngram_indexes' has a column that is negative or too large");
  }
  std::vector<float> weights = node.reals("weights");
  if (!weights.empty() && weights.size() != indexes.size()) {
    fail(node, "attribute 'weights' has " + std::to_string(weights.size()) +
                   " elements, expected " + std::to_string(indexes.size()) +
                   " as 'ngram_indexes' has");
  }
  if (mode == "TF") weights.clear();
  const Tokens tokens = tokens_of(node);
  TrieBuilder trie;
  for (const Gram& gram : grams_of(node, tokens.pool, indexes, weights)) {
    const auto length = static_cast<int64_t>(gram.tokens.size());
    if (length >= least && length <= most) trie.add(gram);
  }
  std::vector<Value*> inputs = {tokens.x, constant(node, "edges", trie.edges()),
                                constant(node, "ngrams", trie.ngrams())};
  if (!weights.empty()) inputs.push_back(constant(node, "weights", trie.weights()));
  become_results(node, {emit_own(node, "NgramCounts", inputs,
                                 {{"columns", *high + 1},
                                  {"min_gram_length", least},
                                  {"max_gram_length", most},
                                  {"max_skip_count", skips},
                                  {"once", int64_t{mode == "IDF" ? 1 : 0}}})});
}

/// The pattern as a table of states, or as lists of them where that would be too large.
void regex_full_match(Node& node) {
  require_input(node, 0, "X");
  if (node.attribute("pattern") == nullptr) fail(node, "lacks the attribute 'pattern'");
  try {
    const regex::StateLists lists = regex::compile(node.text("pattern", ""));
    const std::optional<regex::Table> table = regex::determine(lists);
    become_results(node, {table ? matched(node, *table) : matched(node, lists)});
  } catch (const regex::PatternError& error) {
    fail(node, "attribute 'pattern': " + std::string(error.what()), kSyntax);
  }
}

namespace {

bool any_of(const regex::Expression& expression, bool (*holds)(regex::Expression::Kind)) {
  return holds(expression.kind) ||
         std::any_of(expression.children.begin(), expression.children.end(),
                     [&](const auto& child) { return any_of(*child, holds); });
}

bool is_character(const regex::Expression& expression) {
  using Kind = regex::Expression::Kind;
  const bool one = expression.kind == Kind::kSequence && expression.children.size() == 1;
  if (expression.kind != Kind::kChoice && !one) return expression.kind == Kind::kSet;
  return std::all_of(expression.children.begin(), expression.children.end(),
                     [](const auto& child) { return is_character(*child); });
}

/// A pattern that finds tokens, or what separates them. What stands before a match is not looked
/// at; of several separators the first in the list would go before the others, which makes no
/// difference as long as each is one character.
std::string checked(const Node& node, const std::string& pattern, bool alone) {
  using Kind = regex::Expression::Kind;
  const regex::ExpressionPointer tree = regex::parse(pattern);
  if (any_of(*tree, [](Kind kind) { return kind >= Kind::kTextBegin; })) {
    throw regex::PatternError("'" + pattern + "' asks for what lies around a match (^, $, \\b)");
  }
  if (!alone && !is_character(*tree)) {
    fail(node, "has several separators, of which '" + pattern + "' is more than one character",
         "write them as one pattern: first|second");
  }
  return "(?:" + pattern + ")";
}

}  // namespace

/// Of com.microsoft: a word for each match, or for what lies between, and a column for each word.
void tokenizer(Node& node) {
  require_input(node, 0, "X");
  const std::vector<std::string> separators = texts(node, "separators");
  std::string pattern = node.text("tokenexp", "");
  if (separators.empty() == pattern.empty()) {
    fail(node, "gives both or neither of 'separators' and 'tokenexp'",
         "exactly one of them has to say what tokens are");
  }
  const bool characters = pattern == "." || (separators.size() == 1 && separators[0].empty());
  const int64_t least = characters ? 1 : required(node, "mincharnum", 1);
  try {
    if (characters) {
      pattern = "(?s:.)";
    } else if (!pattern.empty()) {
      pattern = checked(node, pattern, true);
    }
    for (const std::string& each : separators) {
      if (characters) break;
      if (!pattern.empty()) pattern += "|";
      pattern += checked(node, each, separators.size() == 1);
    }
    const std::optional<regex::Table> table = regex::determine(regex::compile(pattern));
    if (!table) throw regex::PatternError("it needs too many states");
    std::vector<Value*> inputs = with_table(node, *table);
    inputs.push_back(constant(
        node, "words", Constant::strings({3}, {node.text("pad_value", ""), "\x02", "\x03"})));
    become_results(node, {emit_own(node, "Tokens", inputs,
                                   {{"least", least},
                                    {"separates", int64_t{!characters && !separators.empty()}},
                                    {"mark", node.integer("mark", 0)}})});
  } catch (const regex::PatternError& error) {
    fail(node,
         "attribute '" + std::string(separators.empty() ? "tokenexp" : "separators") +
             "': " + error.what(),
         kSyntax);
  }
}

}  // namespace intarsia::converter::version_steps
