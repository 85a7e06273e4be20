// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/gradient_formula.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace intarsia::converter {
namespace {

using definitions::AttributeMap;
using definitions::AttributeValue;
using definitions::GradientContext;
using definitions::Term;

/// What is wrong with a formula.
struct FormulaError {
  std::string text;
};

/// The node's attribute of that name.
struct Reference {
  std::string name;
};

struct Call {
  std::vector<std::string> results;
  std::string op;  // "Name" or "domain:Name"
  std::map<std::string, std::variant<AttributeValue, Reference>> attributes;
  std::vector<std::variant<std::string, double>> operands;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Call> parse() {
    std::vector<Call> calls;
    for (;;) {
      while (skip_blanks(true), take(';')) {
      }
      if (at_ == text_.size()) return calls;
      calls.push_back(call());
      skip_blanks(false);
      if (at_ < text_.size() && text_[at_] != ';' && text_[at_] != '\n') fail("';' or a new line");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const std::string_view rest = text_.substr(at_, 20);
    throw FormulaError{fmt::format("the formula '{}' has {}, expected {}", text_,
                                   rest.empty() ? "an end" : fmt::format("'{}'", rest), expected)};
  }

  void skip_blanks(bool lines) {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_[at_] == '\n' ? !lines : text_[at_] != ' ' && text_[at_] != '\t') {
        return;
      } else {
        ++at_;
      }
    }
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    skip_blanks(depth_ > 0);
    if (!take(c)) fail(fmt::format("'{}'", c));
  }

  std::string name(const char* what, bool dots = false) {
    skip_blanks(depth_ > 0);
    const size_t begin = at_;
    const auto belongs = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
             (dots && (c == '.' || c == ':' || c == '-'));
    };
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    if (begin == at_) fail(what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  /// Calls `one` for each part of a list, up to `end`.
  template <class One>
  void list(char end, const One& one) {
    ++depth_;
    skip_blanks(true);
    if (take(end)) {
      --depth_;
      return;
    }
    do {
      one();
      skip_blanks(true);
    } while (take(','));
    expect(end);
    --depth_;
  }

  std::variant<int64_t, double> number() {
    skip_blanks(true);
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    int64_t whole = 0;
    double real = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc()) fail("a number");
    at_ += static_cast<size_t>(as_real.ptr - begin);
    if (as_whole.ec == std::errc() && as_whole.ptr == as_real.ptr) return whole;
    return real;
  }
  bool sees_number() const {
    return at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == '.');
  }

  AttributeValue value() {
    skip_blanks(true);
    if (take('"')) {
      const size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) fail("a text that ends with '\"'");
      std::string text(text_.substr(at_, end - at_));
      at_ = end + 1;
      return text;
    }
    if (take('[')) return elements();
    const auto found = number();
    if (const auto* whole = std::get_if<int64_t>(&found)) return *whole;
    return static_cast<float>(std::get<double>(found));
  }

  /// A list of floats if one of the numbers is no integer.
  AttributeValue elements() {
    std::vector<int64_t> whole;
    std::vector<float> real;
    std::vector<std::string> texts;
    list(']', [&] {
      const AttributeValue element = value();
      if (const auto* text = std::get_if<std::string>(&element)) {
        texts.push_back(*text);
      } else if (const auto* integer = std::get_if<int64_t>(&element)) {
        whole.push_back(*integer);
        real.push_back(static_cast<float>(*integer));
      } else if (const auto* single = std::get_if<float>(&element)) {
        real.push_back(*single);
      } else {
        fail("numbers or texts in a list");
      }
    });
    if (!texts.empty() && !real.empty()) fail("numbers or texts in a list, not both");
    if (!texts.empty()) return texts;
    if (real.size() != whole.size()) return real;
    return whole;
  }

  Call call() {
    Call result;
    do {
      result.results.push_back(name("the name of a result"));
      skip_blanks(false);
    } while (take(','));
    expect('=');
    result.op = name("an operator", true);
    // ONNX writes domain.Name, this project domain:Name.
    const size_t dot = result.op.find_last_of(".:");
    if (dot != std::string::npos) {
      result.op[dot] = ':';
      if (dot > 0 && result.op[dot - 1] == ':') result.op.erase(dot - 1, 1);
    }
    skip_blanks(false);
    if (take('<')) {
      list('>', [&] {
        const std::string key = name("the name of an attribute");
        expect('=');
        skip_blanks(true);
        if (take('@')) {
          result.attributes[key] = Reference{name("the name of an attribute")};
        } else {
          result.attributes[key] = value();
        }
      });
    }
    expect('(');
    list(')', [&] {
      skip_blanks(true);
      if (sees_number()) {
        const auto found = number();
        result.operands.emplace_back(
            std::visit([](auto each) { return static_cast<double>(each); }, found));
      } else {
        result.operands.emplace_back(name("an operand"));
      }
    });
    return result;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;  // of lists, in which lines may end
};

class Interpreter {
 public:
  Interpreter(std::string_view formula, const definitions::OperatorDefinition& op,
              GradientContext& context)
      : formula_(formula), context_(context) {
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i].kind == definitions::Parameter::kVariadic) continue;
      inputs_[std::string(op.inputs[i].name)] = static_cast<int>(i);
    }
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      outputs_[std::string(op.outputs[i].name)] = static_cast<int>(i);
    }
  }

  void run(const std::vector<Call>& calls) {
    const std::set<const Call*> needed = needed_of(calls);
    for (const Call& call : calls) {
      if (needed.contains(&call)) write(call);
    }
    for (const auto& [name, input] : inputs_) {
      const auto found = known_.find("d" + name);
      if (found != known_.end()) context_.set(input, [&] { return found->second; });
    }
  }

 private:
  /// The input whose gradient has this name; -1 if it is none.
  int differentiated(const std::string& name) const {
    if (name.size() < 2 || name[0] != 'd') return -1;
    const auto input = inputs_.find(name.substr(1));
    return input != inputs_.end() ? input->second : -1;
  }

  /// From the end: what the gradients that are asked for are computed from.
  std::set<const Call*> needed_of(const std::vector<Call>& calls) const {
    std::set<const Call*> needed;
    std::set<std::string> names;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      bool wanted = false;
      for (const std::string& result : call->results) {
        const int input = differentiated(result);
        wanted = wanted || names.contains(result) || (input >= 0 && context_.needs(input));
      }
      if (!wanted) continue;
      needed.insert(&*call);
      for (const auto& operand : call->operands) {
        if (const auto* name = std::get_if<std::string>(&operand)) names.insert(*name);
      }
    }
    return needed;
  }

  /// True of an input that the node lacks; calls lack it then, too.
  bool is_absent(const std::string& name) const {
    const auto input = inputs_.find(name);
    return !known_.contains(name) && input != inputs_.end() && !context_.has_x(input->second);
  }

  Term operand(const std::string& name) {
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    const auto input = inputs_.find(name);
    if (input != inputs_.end()) return context_.x(input->second);
    if (const auto output = outputs_.find(name); output != outputs_.end()) {
      return context_.y(output->second);
    }
    if (name.size() > 1 && name[0] == 'd') {
      const auto output = outputs_.find(name.substr(1));
      if (output != outputs_.end()) return context_.dy(output->second);
    }
    throw FormulaError{
        fmt::format("the formula '{}' reads '{}', which is neither an input nor an output of the "
                    "operator, the gradient of an output, nor computed before",
                    formula_, name)};
  }

  void write(const Call& call) {
    std::vector<Term> operands;
    std::optional<Term> tensor;
    for (const auto& each : call.operands) {
      const auto* name = std::get_if<std::string>(&each);
      if (name != nullptr && !tensor && !is_absent(*name)) tensor = operand(*name);
    }
    for (const auto& each : call.operands) {
      if (const auto* name = std::get_if<std::string>(&each)) {
        operands.push_back(operand(*name));
      } else {
        const double value = std::get<double>(each);
        operands.push_back(tensor ? tensor->number(value)
                                  : context_.number(DataType::kFloat, value));
      }
    }
    AttributeMap attributes;
    for (const auto& [key, value] : call.attributes) {
      if (const auto* fixed = std::get_if<AttributeValue>(&value)) {
        attributes[key] = *fixed;
        continue;
      }
      const auto given = context_.given().find(std::get<Reference>(value).name);
      if (given != context_.given().end()) attributes[key] = given->second;
    }
    const std::vector<Term> results = context_.add(call.op, operands, std::move(attributes),
                                                   static_cast<int>(call.results.size()));
    for (size_t i = 0; i < results.size(); ++i)
      known_.insert_or_assign(call.results[i], results[i]);
  }

  std::string_view formula_;
  GradientContext& context_;
  std::map<std::string, int> inputs_, outputs_;
  std::map<std::string, Term> known_;
};

}  // namespace

void apply_gradient_formula(std::string_view formula, const definitions::OperatorDefinition& op,
                            GradientContext& context) {
  try {
    Interpreter(formula, op, context).run(Parser(formula).parse());
  } catch (const FormulaError& error) {
    context.refuse(error.text);
  }
}

}  // namespace intarsia::converter
