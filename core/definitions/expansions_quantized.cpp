// SPDX-License-Identifier: Apache-2.0
//
// Products of quantised tensors: those of their integers, requantised.
#include "core/definitions/quantized_terms.h"
#include "core/definitions/rows.h"
#include "core/operators/quantization/contrib.h"

namespace intarsia::definitions {
namespace {

constexpr TypeSet kRealTypes = types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});
constexpr TypeSet kCodeTypes = kByteTypes | kFloat8Types;

/// An operand of a product as numbers. A vector of scales belongs to its rows or to its columns.
Term factor(ExpansionContext& e, int codes, bool of_rows) {
  const int64_t axis = of_rows ? e.x(codes).rank() - 2 : -1;
  return dequantized(e.x(codes), e.x(codes + 1), e.x(codes + 2), axis);
}

void qlinear_matmul(ExpansionContext& e) {
  for (const int operand : {0, 3, 7}) {
    if (contains(kByteTypes, e.x(operand).known().type)) continue;
    const Term product = call("MatMul", {factor(e, 0, true), factor(e, 3, false)});
    e.set(0, quantized(product, e.x(6), e.x(7)));
    return;
  }
  const Term sums = call("MatMulInteger", {e.x(0), e.x(3), e.x(2), e.x(5)});
  // A vector of scales belongs to the rows of a, and to the columns of b.
  Term rows = e.x(1), columns = e.x(4);
  if (rows.rank() == 1 && !is_single(rows) && e.x(0).rank() >= 2) rows = unsqueeze(rows, {1});
  if (columns.rank() == 1 && sums.rank() == 0)
    columns = with_extents(columns, integers(columns, {}));
  e.set(0, requantized(e, sums, rows * columns / e.x(6), 7, -1));
}

Term convolved(ExpansionContext& e, Term x, AttributeMap attributes) {
  const Term scale = e.x(1) * e.x(4) / e.x(6);
  return call("intarsia:ConvRequantize", {x, e.x(3), scale, e.x(7), e.x(2), e.x(5), e.x_if_any(8)},
              std::move(attributes));
}

void qlinear_conv(ExpansionContext& e) {
  e.set(0, convolved(e, e.x(0), e.given()));
}

/// That of com.microsoft. Its weights are in ONNX's order wherever the channels are.
void contrib_qlinear_conv(ExpansionContext& e) {
  AttributeMap attributes = e.given();
  attributes.erase("channels_last");
  if (e.attributes<QuantizedConvAttributes>().channels_last == 0) {
    e.set(0, convolved(e, e.x(0), std::move(attributes)));
    return;
  }
  if (e.x(0).rank() < 3) {
    e.refuse("x has to have 3 axes or more, found " + std::to_string(e.x(0).rank()));
  }
  e.set(0, channels_last(convolved(e, channels_first(e.x(0)), std::move(attributes))));
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
      {Parameter{"a", "T1"}.with("... M K | ... M K | M K | K"),
       Parameter{"a_scale", "TS"}.with("() | () | M | ()").of(Domain::kPositive),
       Parameter{"a_zero_point", "T1"}.with("() | () | M | ()"),
       Parameter{"b", "T2"}.with("K N | ... K N | K N | K"),
       Parameter{"b_scale", "TS"}.with("() | () | N | ()").of(Domain::kPositive),
       Parameter{"b_zero_point", "T2"}.with("() | () | N | ()"),
       Parameter{"y_scale", "TS"}.with("()").of(Domain::kPositive),
       Parameter{"y_zero_point", "T3"}.with("()")},
      {{"TS", kRealTypes}, {"T1", kCodeTypes}, {"T2", kCodeTypes}, {"T3", kCodeTypes}}, {"y", "T3"},
      codec_of<NoAttributes>());
  const std::vector<Parameter> conv_inputs = {
      Parameter{"x", "T1"}.with("N group*C H W | N group*C H W | N group*C L | N group*C D H W"),
      Parameter{"x_scale", "TS"}.with("()").of(Domain::kPositive),
      Parameter{"x_zero_point", "T1"}.with("()"),
      Parameter{"w", "T2"}.with("group*M C R S | group*M C R S | group*M C R | group*M C Q R S"),
      Parameter{"w_scale", "TS"}.with("() | group*M | group*M | ()").of(Domain::kPositive),
      Parameter{"w_zero_point", "T2"}.with("() | group*M | () | ()"),
      Parameter{"y_scale", "TS"}.with("()").of(Domain::kPositive),
      Parameter{"y_zero_point", "T3"}.with("()"),
      Parameter{"B", "T4", kOptional}.with("group*M")};
  const std::vector<TypeConstraint> conv_types = {{"TS", types({DataType::kFloat})},
                                                  {"T1", kByteTypes},
                                                  {"T2", kByteTypes},
                                                  {"T3", kByteTypes},
                                                  {"T4", types({DataType::kInt32})}};
  row("QLinearConv", qlinear_conv, conv_inputs, conv_types, {"y", "T3"},
      codec_of<ConvAttributes>());
  row("QLinearConv", contrib_qlinear_conv, conv_inputs, conv_types, {"y", "T3"},
      codec_of<QuantizedConvAttributes>());
  rows.back().domain = kContribDomain;
  rows.back().since_version = 1;
}

}  // namespace intarsia::definitions
