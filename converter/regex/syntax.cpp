// SPDX-License-Identifier: Apache-2.0
//
// The syntax of https://github.com/google/re2/wiki/Syntax, by recursive descent: a choice is a list
// of sequences, a sequence is a list of pieces, a piece is an atom with repetitions behind it.
#include "converter/regex/syntax.h"

#include <algorithm>

#include "kernels_cpu/strings/case.h"

namespace intarsia::converter::regex {
namespace {

constexpr int kMostRepeats = 1000;
constexpr int kDeepest = 400;

ExpressionPointer make(Expression::Kind kind) {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  return expression;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern), rest_(pattern) {}

  ExpressionPointer run() {
    while (!rest_.empty()) code_point();  // everything is, as messages rely on
    rest_ = pattern_;
    ExpressionPointer whole = choice(0);
    if (!rest_.empty()) fail("unexpected )");
    return whole;
  }

 private:
  struct Flags {
    bool fold = false;
    bool dot_is_newline = false;
    bool multiline = false;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw PatternError(what + " at byte " + std::to_string(pattern_.size() - rest_.size()));
  }
  bool at(char c) const { return !rest_.empty() && rest_[0] == c; }
  bool at(std::string_view text) const { return rest_.starts_with(text); }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  uint32_t code_point() {
    if (rest_.empty()) fail("the pattern ends too early");
    const cpu::CodePoint letter = cpu::first_code_point(rest_);
    if (!letter.valid) fail("the pattern is no UTF-8");
    rest_.remove_prefix(static_cast<size_t>(letter.bytes));
    return letter.value;
  }

  ExpressionPointer choice(int depth) {
    if (depth > kDeepest) fail("groups are nested too deeply");
    std::vector<ExpressionPointer> branches;
    do {
      branches.push_back(sequence(depth));
    } while (take("|"));
    if (branches.size() == 1) return std::move(branches[0]);
    ExpressionPointer result = make(Expression::kChoice);
    result->children = std::move(branches);
    return result;
  }

  ExpressionPointer sequence(int depth) {
    ExpressionPointer result = make(Expression::kSequence);
    while (quoting_ || (!rest_.empty() && !at('|') && !at(')'))) {
      if (ExpressionPointer piece = this->piece(depth))
        result->children.push_back(std::move(piece));
    }
    return result;
  }

  ExpressionPointer piece(int depth) {
    ExpressionPointer result = atom(depth);
    if (quoting_ && take("\\E")) quoting_ = false;
    for (bool repeated = false; !quoting_; repeated = true) {
      int least = 0, most = 0;
      const std::string_view before = rest_;
      if (!repetition(least, most)) return result;
      const std::string text(before.substr(0, before.size() - rest_.size()));
      if (result == nullptr) fail("nothing to repeat before " + text);
      if (repeated) fail("repetition of a repetition by " + text);
      if (least > kMostRepeats || most > kMostRepeats) {
        fail("more than " + std::to_string(kMostRepeats) + " repetitions in " + text);
      }
      if (most != Expression::kAnyNumber && most < least) fail("no number lies in " + text);
      take("?");  // as few as possible: the same strings match
      ExpressionPointer child = std::move(result);
      result = make(Expression::kRepeat);
      result->children.push_back(std::move(child));
      result->least = least;
      result->most = most;
    }
    return result;
  }

  /// Reads *, +, ?, {n}, {n,} or {n,m}; braces of another form are letters.
  bool repetition(int& least, int& most) {
    most = Expression::kAnyNumber;
    if (take("*")) return true;
    if (take("+")) {
      least = 1;
      return true;
    }
    if (take("?")) {
      most = 1;
      return true;
    }
    const std::string_view before = rest_;
    if (take("{") && number(least)) {
      most = least;
      if (take(",") && !number(most)) most = Expression::kAnyNumber;
      if (take("}")) return true;
    }
    rest_ = before;
    return false;
  }
  bool number(int& value) {
    if (rest_.empty() || !is_digit(rest_[0])) return false;
    for (value = 0; !rest_.empty() && is_digit(rest_[0]); rest_.remove_prefix(1)) {
      value = std::min(value * 10 + (rest_[0] - '0'), kMostRepeats + 1);
    }
    return true;
  }

  /// Null for what is no expression: flags.
  ExpressionPointer atom(int depth) {
    if (quoting_) {
      quoting_ = !rest_.empty();
      return quoting_ ? letter(code_point()) : make(Expression::kEmpty);
    }
    int ignored = 0;
    const std::string_view before = rest_;
    if (repetition(ignored, ignored)) {
      const std::string text(before.substr(0, before.size() - rest_.size()));
      fail("nothing to repeat before " + text);
    }
    if (take("(")) return group(depth);
    if (take("[")) return of_set(bracket());
    if (take("^")) return make(flags_.multiline ? Expression::kLineBegin : Expression::kTextBegin);
    if (take("$")) return make(flags_.multiline ? Expression::kLineEnd : Expression::kTextEnd);
    if (take(".")) return of_set(complement(flags_.dot_is_newline ? CodeSet() : CodeSet{{10, 10}}));
    if (!at('\\')) return letter(code_point());
    if (take("\\A")) return make(Expression::kTextBegin);
    if (take("\\z")) return make(Expression::kTextEnd);
    if (take("\\b")) return make(Expression::kWordBoundary);
    if (take("\\B")) return make(Expression::kNoWordBoundary);
    if (take("\\C")) return make(Expression::kByte);
    if (take("\\Q")) {
      quoting_ = true;
      return make(Expression::kEmpty);
    }
    CodeSet set;
    return class_escape(set) ? of_set(std::move(set)) : letter(escape());
  }

  ExpressionPointer of_set(CodeSet set) {
    ExpressionPointer result = make(Expression::kSet);
    result->set = std::move(set);
    return result;
  }
  ExpressionPointer letter(uint32_t value) { return of_set(fold({{value, value}})); }
  CodeSet fold(CodeSet set) const { return flags_.fold ? folded(set) : set; }

  ExpressionPointer group(int depth) {
    const Flags outer = flags_;
    if (take("?")) {
      if (take("P<") || (at('<') && !at("<=") && !at("<!") && take("<"))) {
        group_name();
      } else if (!group_flags()) {
        return nullptr;  // they hold to the end of the group around
      }
    }
    ExpressionPointer inner = choice(depth + 1);
    if (!take(")")) fail("missing )");
    flags_ = outer;
    return inner;
  }
  void group_name() {
    const size_t end = rest_.find('>');
    if (end == 0 || end == std::string_view::npos) fail("the name of a group is missing");
    for (const char c : rest_.substr(0, end)) {
      const bool known =
          c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!known && static_cast<uint8_t>(c) < 0x80) fail("a name of a group with other characters");
    }
    rest_.remove_prefix(end + 1);
  }
  /// Reads `flags:` or `flags)`; true if a group follows.
  bool group_flags() {
    bool value = true, negated = false, any = false;
    for (;; any = true) {
      const std::string_view before = rest_;
      const uint32_t flag = code_point();
      if (flag == 'i') {
        flags_.fold = value;
      } else if (flag == 's') {
        flags_.dot_is_newline = value;
      } else if (flag == 'm') {
        flags_.multiline = value;
      } else if (flag == '-' && !negated) {
        value = false;
        negated = true;
        any = false;
        if (at(':') || at(')')) fail("a group with a - that no flag follows");
      } else if (flag == ':') {
        return true;
      } else if (flag == ')' && any) {
        return false;
      } else if (flag != 'U') {  // U: as few as possible
        if (at('=') || at('!')) rest_.remove_prefix(1);
        const std::string text(before.substr(0, before.size() - rest_.size()));
        rest_ = before;
        fail("(?" + text + " is not supported");
      }
    }
  }

  /// Reads \d, \pN, \p{Greek} and the like, which stand for several code points.
  bool class_escape(CodeSet& set) {
    if (rest_.size() < 2 || rest_[0] != '\\') return false;
    const char kind = rest_[1];
    const bool negated = kind >= 'A' && kind <= 'Z';
    const CodeSet* perl = perl_class(static_cast<char>(negated ? kind - 'A' + 'a' : kind));
    if (perl == nullptr && kind != 'p' && kind != 'P') return false;
    rest_.remove_prefix(2);
    set = perl != nullptr ? fold(*perl) : category(negated);
    if (perl != nullptr && negated) set = complement(set);
    return true;
  }
  CodeSet category(bool negated) {
    std::string_view name = rest_;
    if (take("{")) {
      if (take("^")) negated = !negated;
      const size_t end = rest_.find('}');
      if (end == std::string_view::npos) fail("missing } of \\p{");
      name = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
    } else {
      code_point();
      name.remove_suffix(rest_.size());
    }
    CodeSet set;
    if (!find_category(name, set)) {
      fail("\\p{" + std::string(name) + "} is not supported: of Unicode's classes, general " +
           "categories are, as \\p{Lu}; scripts are not");
    }
    set = fold(std::move(set));
    return negated ? complement(set) : set;
  }

  /// The code point that an escape names, the backslash included.
  uint32_t escape() {
    const std::string_view before = rest_;
    rest_.remove_prefix(1);
    if (rest_.empty()) fail("the pattern ends with a backslash");
    const char c = rest_[0];
    const auto octal = [this](size_t i) {
      return i < rest_.size() && rest_[i] >= '0' && rest_[i] <= '7';
    };
    if (c == '0' || (c >= '1' && c <= '7' && octal(1))) {
      uint32_t value = 0;
      for (int digits = 0; digits < 3 && octal(0); ++digits, rest_.remove_prefix(1)) {
        value = value * 8 + static_cast<uint32_t>(rest_[0] - '0');
      }
      return value;
    }
    if (is_digit(c)) fail("the back reference \\" + std::string(1, c) + " is not supported");
    constexpr std::string_view kNames = "aftnrv", kValues = "\a\f\t\n\r\v";
    const size_t named = kNames.find(c);
    const uint32_t value = code_point();
    if (named != std::string_view::npos) return static_cast<uint32_t>(kValues[named]);
    if (c == 'x') return hexadecimal();
    const bool word = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!word && value < 0x80) return value;
    const std::string text(before.substr(0, before.size() - rest_.size()));
    rest_ = before;
    fail("the escape " + text + " is not supported");
  }
  /// Two digits, or any number of them in braces.
  uint32_t hexadecimal() {
    const bool braces = take("{");
    uint32_t value = 0;
    int digits = 0;
    for (; !rest_.empty() && (braces || digits < 2); ++digits, rest_.remove_prefix(1)) {
      const char c = rest_[0];
      const int digit = is_digit(c)            ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) break;
      value = value * 16 + static_cast<uint32_t>(digit);
      if (value > kLastCodePoint) fail("\\x{...} beyond the last code point");
    }
    if (digits == 0 || (!braces && digits < 2)) fail("\\x without two digits");
    if (braces && !take("}")) fail("missing } of \\x{");
    return value;
  }

  /// A class, behind its opening bracket.
  CodeSet bracket() {
    const bool negated = take("^");
    CodeSet all;
    const auto add = [&all](const CodeSet& set) { all.insert(all.end(), set.begin(), set.end()); };
    for (bool first = true; first || !at(']'); first = false) {
      if (rest_.empty()) fail("missing ]");
      CodeSet set;
      if (class_escape(set) || named_class(set)) {
        add(set);
        continue;
      }
      const uint32_t low = at('\\') ? escape() : code_point();
      uint32_t high = low;
      if (at('-') && rest_.size() > 1 && rest_[1] != ']') {
        rest_.remove_prefix(1);
        high = at('\\') ? escape() : code_point();
        if (high < low) fail("a range of a class that ends before it begins");
      }
      add(fold({{low, high}}));
    }
    rest_.remove_prefix(1);
    const CodeSet set = sorted(std::move(all));
    return negated ? complement(set) : set;
  }
  /// Reads [:name:], within a class.
  bool named_class(CodeSet& set) {
    const size_t end = at("[:") ? rest_.find(":]", 2) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    std::string_view name = rest_.substr(2, end - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const CodeSet* found = posix_class(name);
    if (found == nullptr) fail("the class [:" + std::string(name) + ":] is unknown");
    rest_.remove_prefix(end + 2);
    set = fold(*found);
    if (negated) set = complement(set);
    return true;
  }

  std::string_view pattern_;
  std::string_view rest_;
  Flags flags_;
  bool quoting_ = false;  // between \Q and \E
};

}  // namespace

ExpressionPointer parse(std::string_view pattern) {
  return Parser(pattern).run();
}

}  // namespace intarsia::converter::regex
