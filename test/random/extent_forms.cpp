// SPDX-License-Identifier: Apache-2.0
#include "test/random/extent_forms.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

namespace intarsia::test {
namespace {

using definitions::AttributeField;
using definitions::Parameter;

constexpr std::string_view kAbsent = "absent", kScalar = "()", kLeading = "...";

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

/// The expressions of a form, without "..." in front.
std::vector<std::string_view> axes_of(std::string_view form) {
  if (form == kScalar) return {};
  std::vector<std::string_view> axes = parts_of(form, ' ');
  if (!axes.empty() && axes.front() == kLeading) axes.erase(axes.begin());
  return axes;
}

/// sum = product {"+" product}; product = factor {("*" | "/") factor}; factor = name | number |
/// "(" sum ")".
class Expression {
 public:
  /// What a name stands for.
  using Lookup = std::function<Dim(std::string_view name)>;

  Expression(std::string_view text, const Lookup& lookup) : text_(text), lookup_(lookup) {}
  /// Nothing if the text is no expression.
  std::optional<Dim> evaluate() {
    const Dim value = sum();
    if (failed_ || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Dim sum() {
    Dim value = product();
    while (!failed_ && take('+')) value += product();
    return value;
  }
  Dim product() {
    Dim value = factor();
    while (!failed_) {
      if (take('*')) {
        value *= factor();
      } else if (take('/')) {
        value = ceil_div(value, factor());
      } else {
        break;
      }
    }
    return value;
  }
  Dim factor() {
    if (take('(')) {
      const Dim value = sum();
      failed_ = failed_ || !take(')');
      return value;
    }
    const size_t begin = at_;
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    failed_ = failed_ || word.empty();
    if (failed_) return 1;
    if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) return lookup_(word);
    return std::stoll(std::string(word));
  }

  std::string_view text_;
  const Lookup& lookup_;
  size_t at_ = 0;
  bool failed_ = false;
};

Dim evaluate(std::string_view text, const Expression::Lookup& lookup) {
  return Expression(text, lookup).evaluate().value();
}

}  // namespace

ExtentForms::ExtentForms(const OperatorDefinition& op, const definitions::AttributeMap& attributes,
                         const RandomModel& model, Random& random)
    : op_(op), model_(model), random_(random) {
  size_t most = 0;
  std::set<std::string, std::less<>> names;
  for (const Parameter& input : op.inputs) {
    const std::vector<std::string_view> forms = parts_of(input.extents, '|');
    most = std::max(most, forms.size());
    for (const std::string_view form : forms) {
      for (const std::string_view axis : axes_of(form)) {
        evaluate(axis, [&](std::string_view name) {
          names.emplace(name);
          return Dim(1);
        });
      }
    }
  }
  if (most > 0) number_ = static_cast<size_t>(random.below(static_cast<int64_t>(most)));
  if (op.attributes.list == nullptr) return;
  for (const AttributeField& field : op.attributes.list()) {
    if (field.kind != AttributeField::kInteger || !names.contains(field.name)) continue;
    integers_.push_back(field.name);
    const auto given = attributes.find(field.name);
    if (given == attributes.end()) continue;
    const int64_t value = std::get<int64_t>(given->second);
    if (value > 0) known_.names.emplace(field.name, value);
  }
}

std::string_view ExtentForms::form(size_t operand) const {
  const std::vector<std::string_view> forms =
      parts_of(definitions::formal(op_.inputs, operand)->extents, '|');
  if (forms.empty()) return {};
  return forms.size() == 1 ? forms[0] : forms[number_];
}

bool ExtentForms::belongs(size_t operand) const {
  const std::string_view forms = definitions::formal(op_.inputs, operand)->extents;
  return forms.find(kAbsent) != std::string_view::npos && !absent(operand);
}

bool ExtentForms::fits(size_t operand, const Shape<Dim>& extents) const {
  Known known = known_;
  return take(operand, extents, known);
}

bool ExtentForms::take(size_t operand, const Shape<Dim>& extents) {
  return take(operand, extents, known_);
}

bool ExtentForms::take(size_t operand, const Shape<Dim>& extents, Known& known) const {
  const std::vector<std::string_view> axes = axes_of(form(operand));
  const auto count = static_cast<int>(axes.size());
  const int leading = extents.rank - count;
  if (leading < 0 || (leading > 0 && !form(operand).starts_with(kLeading))) return false;
  if (form(operand).starts_with(kLeading)) {
    const std::vector<Dim> front(extents.extents, extents.extents + leading);
    if (known.leading && *known.leading != front) return false;
    known.leading = front;
  }
  for (int i = 0; i < count; ++i) {
    const std::string_view axis = axes[static_cast<size_t>(i)];
    const Dim found = extents[leading + i];
    std::vector<std::string> open;
    const auto value_with = [&](const Dim& unknown) {
      return evaluate(axis, [&](std::string_view name) {
        const auto at = known.names.find(name);
        if (at != known.names.end()) return at->second;
        open.emplace_back(name);
        return unknown;
      });
    };
    if (const Dim value = value_with(1); open.empty()) {
      if (!(value == found)) return false;
      continue;
    }
    // One extent tells one number: others are 1.
    const std::string name = open.front();
    for (const std::string& each : open) {
      if (each != name) known.names.emplace(each, 1);
    }
    if (axis == name) {
      known.names.emplace(name, found);
      continue;
    }
    // Small numbers will do; extents grow with them.
    if (!is_constant(found)) return false;
    int64_t number = 1;
    const auto last = [&] {
      const Dim value = value_with(number);
      return !is_constant(value) || constant_value(value) >= constant_value(found);
    };
    constexpr int64_t kMost = 4096;
    while (number < kMost && !last()) ++number;
    if (!(value_with(number) == found)) return false;
    known.names.emplace(name, number);
  }
  return true;
}

Dim ExtentForms::drawn_extent() {
  if (model_.symbols->size() > 0 && random_.chance(25)) {
    return model_.symbols->dim(static_cast<int>(random_.below(model_.symbols->size())));
  }
  // Several are multiplied.
  if (model_.sizes->extents.size() > 0)
    return std::min<int64_t>(random_.pick(model_.sizes->extents), 128);
  return random_.chance(90) ? random_.between(1, 4) : random_.pick<int64_t>({5, 8, 17});
}

Shape<Dim> ExtentForms::draw(size_t operand) {
  const std::string_view form = this->form(operand);
  Shape<Dim> shape;
  if (form.starts_with(kLeading)) {
    if (!known_.leading) {
      known_.leading.emplace();
      for (int64_t axes = random_.between(0, 3); axes > 0; --axes) {
        known_.leading->push_back(drawn_extent());
      }
    }
    for (const Dim& extent : *known_.leading) shape.push(extent);
  }
  for (const std::string_view axis : axes_of(form)) {
    shape.push(evaluate(axis, [&](std::string_view name) {
      const auto found = known_.names.find(name);
      if (found != known_.names.end()) return found->second;
      // Attributes are numbers, and what takes part in arithmetic is no extent of its own.
      Dim value = drawn_extent();
      while (name != axis && !is_constant(value)) value = drawn_extent();
      known_.names.emplace(name, value);
      return value;
    }));
  }
  return shape;
}

void ExtentForms::complete(definitions::AttributeMap& attributes) const {
  for (const std::string& name : integers_) {
    const auto found = known_.names.find(name);
    if (found != known_.names.end() && is_constant(found->second)) {
      attributes[name] = constant_value(found->second);
    }
  }
}

std::string mistake_in_forms(const OperatorDefinition& op) {
  size_t most = 1;
  for (const Parameter& input : op.inputs) {
    const std::vector<std::string_view> forms = parts_of(input.extents, '|');
    const std::string where = op.qualified_name() + ", " + std::string(input.name) + ": ";
    if (forms.size() > 1 && most > 1 && forms.size() != most) {
      return where + std::to_string(forms.size()) + " forms, others have " + std::to_string(most);
    }
    most = std::max(most, forms.size());
    for (const std::string_view form : forms) {
      if (form == kAbsent && input.kind != Parameter::kOptional) return where + "is required";
      for (const std::string_view axis : axes_of(form)) {
        const Expression::Lookup lookup = [](std::string_view) { return Dim(1); };
        if (!Expression(axis, lookup).evaluate()) {
          return where + "'" + std::string(axis) + "' is no expression";
        }
      }
    }
  }
  return {};
}

}  // namespace intarsia::test
