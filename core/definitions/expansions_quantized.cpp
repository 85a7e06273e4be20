// SPDX-License-Identifier: Apache-2.0
//
// Products of quantised tensors, by products of real numbers that are exact.
//
// The difference of a number of 8 bits and its zero point has 9 bits with its sign, a product of
// two 18, and float holds sums of 258 of them, double those of all that fits in memory. So a
// product over more, and a convolution of one group, is one of parts, each in float and added up as
// integers; what cannot be cut is in double. What leaves 32 bits wraps around, as the specification
// allows.
#include <algorithm>

#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/conv.h"

namespace intarsia::definitions {
namespace {

constexpr TypeSet kByteTypes = types({DataType::kInt8, DataType::kUint8});
constexpr TypeSet kRealTypes = types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});
/// 2^24 / 255^2.
constexpr int64_t kExactTerms = 258;
/// More parts than that cost more than double does.
constexpr int64_t kMostParts = 64;

/// `x` without its zero point, in `type`.
Term centred(ExpansionContext& e, int x, int zero, DataType type,
             const std::vector<int64_t>& new_axes = {}) {
  const Term numbers = cast_to(e.x(x), type);
  if (!e.has_x(zero)) return numbers;
  Term offset = cast_to(e.x(zero), type);
  if (offset.rank() == 1 && !new_axes.empty()) {
    offset = unsqueeze(offset, new_axes);
  }
  return numbers - offset;
}

/// Fails where a zero point or scale is neither a scalar nor a vector nor of the rank of its
/// matrix.
void require_parameter(ExpansionContext& e, int parameter, int matrix) {
  if (!e.has_x(parameter)) return;
  const int rank = e.x(parameter).rank();
  if (rank <= 1 || rank == e.x(matrix).rank()) return;
  e.refuse("input " + std::to_string(parameter) + " has rank " + std::to_string(rank) +
           ", expected 0, 1 or that of its matrix, " + std::to_string(e.x(matrix).rank()));
}

/// A product of matrices whose elements are integers of 9 bits, as int32.
Term exact_matmul(ExpansionContext& e, int a, int a_zero, int b, int b_zero) {
  require_parameter(e, a_zero, a);
  require_parameter(e, b_zero, b);
  const auto product = [&](DataType type, std::vector<int64_t> rows = {1}) {
    if (e.x(a).rank() < 2) rows.clear();
    return std::pair{centred(e, a, a_zero, type, rows), centred(e, b, b_zero, type)};
  };
  const Shape<Dim> left = e.x(a).known().shape;
  const Dim terms = left.rank > 0 ? left[left.rank - 1] : Dim(1);
  const int64_t count = is_constant(terms) ? constant_value(terms) : -1;
  const int64_t parts = (count + kExactTerms - 1) / kExactTerms;
  if (count < 0 || parts > kMostParts) {
    const auto [x, y] = product(DataType::kDouble);
    return cast_to(cast_to(call("MatMul", {x, y}), DataType::kInt64), DataType::kInt32);
  }
  const auto [x, y] = product(DataType::kFloat);
  if (parts <= 1) return cast_to(call("MatMul", {x, y}), DataType::kInt32);
  const int64_t along = std::max(0, y.rank() - 2);
  const auto part = [&, x = x, y = y](int64_t number) {
    const int64_t first = number * kExactTerms, last = std::min(count, first + kExactTerms);
    return cast_to(
        call("MatMul", {slice(x, x.rank() - 1, first, last), slice(y, along, first, last)}),
        DataType::kInt32);
  };
  Term sum = part(0);
  for (int64_t number = 1; number < parts; ++number) sum = sum + part(number);
  return sum;
}

/// A convolution of integers of 9 bits, as int32.
Term exact_conv(ExpansionContext& e, int x, int x_zero, int w, int w_zero) {
  const Shape<Dim> weight = e.x(w).known().shape;
  if (weight.rank < 3) {
    e.refuse("its weight has to have 3 axes at least, found " + std::to_string(weight.rank));
  }
  std::vector<int64_t> behind;
  for (int axis = 1; axis < weight.rank; ++axis) behind.push_back(axis);
  const auto factors = [&](DataType type) {
    return std::pair{centred(e, x, x_zero, type), centred(e, w, w_zero, type, behind)};
  };
  Dim taps = 1;
  for (int axis = 2; axis < weight.rank; ++axis) taps = taps * weight[axis];
  const bool known = is_constant(taps) && is_constant(weight[1]);
  const int64_t channels = known ? constant_value(weight[1]) : 0;
  // Channels of which a sum is exact in float; groups are not cut.
  int64_t most = known ? kExactTerms / std::max<int64_t>(constant_value(taps), 1) : 0;
  if (most < channels && e.attributes<ConvAttributes>().group != 1) most = 0;
  if (most == 0 || channels > most * kMostParts) {
    const auto [data, weights] = factors(DataType::kDouble);
    return cast_to(cast_to(call("Conv", {data, weights}, e.given()), DataType::kInt64),
                   DataType::kInt32);
  }
  const auto [data, weights] = factors(DataType::kFloat);
  if (channels <= most) return cast_to(call("Conv", {data, weights}, e.given()), DataType::kInt32);
  const auto part = [&, data = data, weights = weights](int64_t first) {
    const int64_t last = std::min(channels, first + most);
    return cast_to(
        call("Conv", {slice(data, 1, first, last), slice(weights, 1, first, last)}, e.given()),
        DataType::kInt32);
  };
  Term sum = part(0);
  for (int64_t first = most; first < channels; first += most) sum = sum + part(first);
  return sum;
}

/// sums * factor, rounded, with the zero point of input `zero`, in its type.
void requantize(ExpansionContext& e, Term sums, Term factor, int zero) {
  // The reference computes in double: an integer of 32 bits times a float.
  const Term scaled = cast_to(sums, DataType::kDouble) * cast_to(factor, DataType::kDouble);
  const DataType type = e.x(zero).known().type;
  const Term shifted = call("Round", {scaled + cast_to(e.x(zero), DataType::kDouble)});
  const bool is_signed = type == DataType::kInt8;
  const Term low = shifted.number(is_signed ? -128 : 0),
             high = shifted.number(is_signed ? 127 : 255);
  e.set(0, cast_to(call("Clip", {shifted, low, high}), type));
}

void matmul_integer(ExpansionContext& e) {
  e.set(0, exact_matmul(e, 0, 2, 1, 3));
}

void conv_integer(ExpansionContext& e) {
  e.set(0, exact_conv(e, 0, 2, 1, 3));
}

void qlinear_matmul(ExpansionContext& e) {
  require_parameter(e, 1, 0);
  require_parameter(e, 4, 3);
  const Term sums = exact_matmul(e, 0, 2, 3, 5);
  Term rows = e.x(1);
  if (rows.rank() == 1 && e.x(0).rank() >= 2) rows = unsqueeze(rows, {1});
  requantize(e, sums, rows * e.x(4) / e.x(6), 7);
}

void qlinear_conv(ExpansionContext& e) {
  Term sums = exact_conv(e, 0, 2, 3, 5);
  std::vector<int64_t> behind;
  for (int axis = 1; axis < e.x(3).rank() - 1; ++axis) behind.push_back(axis);
  const auto of_channels = [&](Term parameter) {
    return parameter.rank() == 1 ? unsqueeze(parameter, behind) : parameter;
  };
  if (e.has_x(8)) sums = sums + of_channels(e.x(8));
  requantize(e, sums, e.x(1) * of_channels(e.x(4)) / e.x(6), 7);
}

}  // namespace

void add_quantized_product_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  const auto row = [&](std::string_view name, ExpansionRule rule, std::vector<Parameter> inputs,
                       std::vector<TypeConstraint> types, Parameter output,
                       AttributeCodec attributes) {
    rows.push_back({.name = name,
                    .since_version = 10,
                    .inputs = std::move(inputs),
                    .outputs = {output},
                    .facts = {.expand = rule},
                    .types = std::move(types),
                    .kernel_types = {},
                    .attributes = std::move(attributes)});
  };
  const std::vector<Parameter> integers{{"A", "T1"},
                                        {"B", "T2"},
                                        {"a_zero_point", "T1", kOptional},
                                        {"b_zero_point", "T2", kOptional}};
  const TypeConstraint sums{"T3", types({DataType::kInt32})};
  row("MatMulInteger", matmul_integer, integers, {{"T1", kByteTypes}, {"T2", kByteTypes}, sums},
      {"Y", "T3"}, codec_of<NoAttributes>());
  row("ConvInteger", conv_integer,
      {{"x", "T1"},
       {"w", "T2"},
       {"x_zero_point", "T1", kOptional},
       {"w_zero_point", "T2", kOptional}},
      {{"T1", kByteTypes}, {"T2", kByteTypes}, sums}, {"y", "T3"}, codec_of<ConvAttributes>());
  row("QLinearMatMul", qlinear_matmul,
      {{"a", "T1"},
       {"a_scale", "TS"},
       {"a_zero_point", "T1"},
       {"b", "T2"},
       {"b_scale", "TS"},
       {"b_zero_point", "T2"},
       {"y_scale", "TS"},
       {"y_zero_point", "T3"}},
      {{"TS", kRealTypes}, {"T1", kByteTypes}, {"T2", kByteTypes}, {"T3", kByteTypes}}, {"y", "T3"},
      codec_of<NoAttributes>());
  row("QLinearConv", qlinear_conv,
      {{"x", "T1"},
       {"x_scale", "TS"},
       {"x_zero_point", "T1"},
       {"w", "T2"},
       {"w_scale", "TS"},
       {"w_zero_point", "T2"},
       {"y_scale", "TS"},
       {"y_zero_point", "T3"},
       {"B", "T4", kOptional}},
      {{"TS", types({DataType::kFloat})},
       {"T1", kByteTypes},
       {"T2", kByteTypes},
       {"T3", kByteTypes},
       {"T4", types({DataType::kInt32})}},
      {"y", "T3"}, codec_of<ConvAttributes>());
}

}  // namespace intarsia::definitions
