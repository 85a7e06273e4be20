// SPDX-License-Identifier: Apache-2.0
//
// Conditions on symbolic extents, decided by equality and by intervals.
#include "core/definitions/symbolic_shape.h"

#include <algorithm>
#include <cmath>

namespace intarsia::definitions {
namespace {

bool is_real(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

/// True if some assignment may make the two equal.
bool may_be_equal(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  return difference.lower() <= 0 && difference.upper() >= 0;
}

}  // namespace

const SymbolicInput& SymbolicShapeContext::at(int input) const {
  static const SymbolicInput kAbsent;
  return input >= 0 && input < input_count() ? inputs_[static_cast<size_t>(input)] : kAbsent;
}

bool SymbolicShapeContext::has_values(int input) const {
  const SymbolicInput& tensor = at(input);
  if (!tensor.values || tensor.reals) return tensor.reals.has_value();
  return !is_real(tensor.type) ||
         (tensor.denominator == 1 &&
          std::all_of(tensor.values->begin(), tensor.values->end(),
                      [](const Dim& element) { return element.is_constant(); }));
}

int64_t SymbolicShapeContext::value_count(int input) const {
  Dim product = 1;
  for (int axis = 0; axis < rank(input); ++axis) product *= dim(input, axis);
  return product.is_constant() ? product.constant() : -1;
}

Dim SymbolicShapeContext::value(int input, int64_t index) const {
  const SymbolicInput& tensor = at(input);
  const auto position = static_cast<size_t>(index);
  if (index < 0) return Dim::unknown();
  if (tensor.reals && position < tensor.reals->size()) {
    const double real = (*tensor.reals)[position];
    const bool whole = real == std::trunc(real) && std::abs(real) <= 0x1p53;
    return whole ? Dim(static_cast<int64_t>(real)) : Dim::unknown();
  }
  const bool known = tensor.values && tensor.denominator == 1 && position < tensor.values->size();
  return known ? (*tensor.values)[position] : Dim::unknown();
}

double SymbolicShapeContext::real_value(int input, int64_t index) const {
  const auto position = static_cast<size_t>(index);
  const SymbolicInput& tensor = at(input);
  if (tensor.reals && position < tensor.reals->size()) return (*tensor.reals)[position];
  const Dim element = value(input, index);
  return element.is_constant() ? static_cast<double>(element.constant()) : 0.0;
}

Status SymbolicShapeContext::set_output(int output, DataType type, const Shape<Dim>& shape) {
  if (output < 0 || output >= output_count()) return {};
  if (shape.rank > kMaxRank) {
    return fail(Code::kWrongRank, "output rank", kMaxRank, shape.rank, input_count() + output);
  }
  for (int axis = 0; axis < shape.rank; ++axis) {
    const int operand = input_count() + output;
    if (Status status = require_at_least(0, shape[axis], "output extent", operand, axis); !status) {
      return status;
    }
  }
  SymbolicOutput& result = outputs_[static_cast<size_t>(output)];
  result = {type, shape, true, nullptr};
  // What hands a sequence on need not say what it holds.
  if (holds_elements(type) && input_count() > 0) result.sequence = sequence(0);
  return {};
}

Status SymbolicShapeContext::set_output_type(int output, DataType type) {
  if (output >= 0 && output < output_count()) outputs_[static_cast<size_t>(output)].type = type;
  return {};
}

void SymbolicShapeContext::set_sequence(int output, SequencePointer sequence) {
  if (output < 0 || output >= output_count()) return;
  outputs_[static_cast<size_t>(output)].sequence = std::move(sequence);
}

Status SymbolicShapeContext::broadcast(const Dim& a, const Dim& b, Dim& result, int operand,
                                       int axis) const {
  if (!(may_be_equal(a, b) || may_be_equal(a, 1) || may_be_equal(b, 1))) {
    return fail_dims(Code::kWrongExtent, "extent does not broadcast", a, b, operand, axis);
  }
  result = dim_broadcast(a, b);
  return {};
}

Status SymbolicShapeContext::require_equal(const Dim& expected, const Dim& found, const char* what,
                                           int operand, int axis) const {
  if (may_be_equal(expected, found)) return {};
  return fail_dims(Code::kWrongExtent, what, expected, found, operand, axis);
}

Status SymbolicShapeContext::require_at_least(const Dim& minimum, const Dim& found,
                                              const char* what, int operand, int axis) const {
  if ((found - minimum).upper() >= 0) return {};
  return fail_dims(Code::kWrongExtent, what, minimum, found, operand, axis);
}

Status SymbolicShapeContext::fail(Code code, const char* what, int64_t expected, int64_t found,
                                  int operand, int axis) const {
  return fail_dims(code, what, expected, found, operand, axis);
}

Status SymbolicShapeContext::fail(Code code, const char* what, std::string_view text) const {
  diagnostic_ = Diagnostic{};
  diagnostic_.code = code;
  diagnostic_.what = what;
  text_ = std::string(what) + ": " + std::string(text);
  return code;
}

Status SymbolicShapeContext::fail_dims(Code code, const char* what, const Dim& expected,
                                       const Dim& found, int operand, int axis) const {
  diagnostic_ = Diagnostic{};
  diagnostic_.code = code;
  diagnostic_.what = what;
  diagnostic_.operand = operand;
  diagnostic_.axis = axis;
  diagnostic_.expected = expected.upper();
  diagnostic_.found = found.upper();
  text_ = what;
  bool numbered = false;
  const auto fill = [&](std::string_view name, const Dim& number) {
    const size_t place = text_.find(name);
    if (place == std::string::npos) return;
    text_.replace(place, name.size(), number.to_string());
    numbered = true;
  };
  fill("{}", found);
  fill("{expected}", expected);
  if (operand >= input_count()) {
    text_ += " of output " + std::to_string(operand - input_count());
  } else if (operand >= 0) {
    text_ += " of input " + std::to_string(operand);
  }
  if (axis >= 0) text_ += ", axis " + std::to_string(axis);
  // A failure that has no numbers to name leaves both at 0.
  if (!numbered && !(expected == found)) {
    text_ += ": expected " + expected.to_string() + ", found " + found.to_string();
  }
  return code;
}

}  // namespace intarsia::definitions
