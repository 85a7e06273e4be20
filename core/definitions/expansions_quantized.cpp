// SPDX-License-Identifier: Apache-2.0
//
// Products of quantised tensors: those of their integers, requantised.
#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/conv.h"

namespace intarsia::definitions {
namespace {

constexpr TypeSet kRealTypes = types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});

bool is_single(const Term& term) {
  const Shape<Dim> shape = term.known().shape;
  return shape.rank == 0 ||
         (shape.rank == 1 && is_constant(shape[0]) && constant_value(shape[0]) == 1);
}

/// sums * factor, rounded, and the zero point, input `zero`, in its type. The factor belongs to the
/// positions of `axis`, or of several axes, or is one for all.
Term requantized(ExpansionContext& e, Term sums, Term factor, int zero, int64_t axis) {
  factor = cast_to(factor, DataType::kFloat);
  if (factor.rank() <= 1) {
    return call("intarsia:Requantize", {sums, factor, e.x(zero)}, {{"axis", axis}});
  }
  const DataType type = e.x(zero).known().type;
  const Term rounded = call("Round", {cast_to(sums, DataType::kFloat) * factor});
  const Term shifted = rounded + cast_to(e.x(zero), DataType::kFloat);
  const bool is_signed = type == DataType::kInt8;
  const Term low = shifted.number(is_signed ? -128 : 0),
             high = shifted.number(is_signed ? 127 : 255);
  return cast_to(call("Clip", {shifted, low, high}), type);
}

void qlinear_matmul(ExpansionContext& e) {
  const Term sums = call("MatMulInteger", {e.x(0), e.x(3), e.x(2), e.x(5)});
  // A vector of scales belongs to the rows of a, and to the columns of b.
  Term rows = e.x(1), columns = e.x(4);
  if (rows.rank() == 1 && !is_single(rows) && e.x(0).rank() >= 2) rows = unsqueeze(rows, {1});
  if (columns.rank() == 1 && sums.rank() == 0)
    columns = with_extents(columns, integers(columns, {}));
  e.set(0, requantized(e, sums, rows * columns / e.x(6), 7, -1));
}

void qlinear_conv(ExpansionContext& e) {
  const Term sums = call("ConvInteger", {e.x(0), e.x(3), e.x(2), e.x(5)}, e.given());
  const Term factor = e.x(1) * e.x(4) / e.x(6);
  const AttributeMap channels{{"axis", int64_t{1}}};
  e.set(0, e.has_x(8) ? call("intarsia:Requantize", {sums, factor, e.x(7), e.x(8)}, channels)
                      : call("intarsia:Requantize", {sums, factor, e.x(7)}, channels));
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
