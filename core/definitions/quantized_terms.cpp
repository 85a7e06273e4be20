// SPDX-License-Identifier: Apache-2.0
#include "core/definitions/quantized_terms.h"

#include <algorithm>

namespace intarsia::definitions {

bool is_single(const Term& term) {
  const Shape<Dim> shape = term.known().shape;
  return shape.rank == 0 ||
         (shape.rank == 1 && is_constant(shape[0]) && constant_value(shape[0]) == 1);
}

Term single(ExpansionContext& e, int input) {
  const Term term = e.x(input);
  if (!is_single(term)) {
    const Shape<Dim> shape = term.known().shape;
    e.refuse("input " + std::to_string(input) +
             " has to be one number, a scalar or a vector of one element; found " +
             (shape.rank == 1 ? "a vector of " + shape[0].to_string()
                              : "a tensor of rank " + std::to_string(shape.rank)));
  }
  return term.rank() == 0 ? term : with_extents(term, e.integers({}));
}

Term zero_point(ExpansionContext& e, int input, Term codes) {
  return e.has_x(input) ? single(e, input) : codes.number(0);
}

Term dequantized(Term codes, Term scale, Term zero, int64_t axis) {
  return call("DequantizeLinear", {codes, scale, zero}, {{"axis", axis}});
}

Term quantized(Term numbers, Term scale, Term zero) {
  return call("QuantizeLinear", {numbers, scale, zero});
}

Term all_codes(Term like) {
  std::vector<int64_t> codes = axes_between(0, 256);
  if (like.known().type == DataType::kInt8) {
    for (int64_t& code : codes) code = static_cast<int8_t>(code);
  }
  return cast(integers(like, codes), like);
}

Term nearest(Term numbers, DataType type) {
  return quantized(numbers, numbers.number(1), numbers.context().number(type, 0));
}

Term rescaled(Term sums, Term scale, int64_t axis) {
  if (scale.rank() > 1) return cast(sums, scale) * scale;
  return call("DequantizeLinear", {sums, scale}, {{"axis", axis}});
}

Term requantized(ExpansionContext& e, Term sums, Term scale, int zero, int64_t axis) {
  scale = cast_to(scale, DataType::kFloat);
  if (scale.rank() <= 1) {
    return call("intarsia:Requantize", {sums, scale, e.x(zero)}, {{"axis", axis}});
  }
  const DataType type = e.x(zero).known().type;
  const Term rounded = call("Round", {cast_to(sums, DataType::kFloat) * scale});
  return nearest(rounded + cast_to(e.x(zero), DataType::kFloat), type);
}

Term channels_first(Term image) {
  std::vector<int64_t> order = axes_between(0, image.rank());
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return transpose(image, order);
}

Term channels_last(Term image) {
  std::vector<int64_t> order = axes_between(0, image.rank());
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return transpose(image, order);
}

}  // namespace intarsia::definitions
