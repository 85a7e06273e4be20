// SPDX-License-Identifier: Apache-2.0
//
// Quantised operators of com.microsoft that go element by element, or over windows.
//
// They become operators on what the codes stand for, or on the codes where ONNX Runtime computes
// with these: results are its results to the bit wherever its own do not depend on the machine.
#include <algorithm>

#include "core/definitions/contrib_rows.h"
#include "core/definitions/quantized_terms.h"
#include "core/operators/elementwise/elementwise.h"
#include "core/operators/quantization/contrib.h"
#include "intarsia/describe.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;
constexpr TypeSet kFloatType = types({DataType::kFloat});

// -- QuantizeLinear, DequantizeLinear
// ------------------------------------------------------------------

void linear(ExpansionContext& e, const char* name, AttributeMap attributes) {
  e.set(0, e.has_x(2) ? call(name, {e.x(0), e.x(1), e.x(2)}, std::move(attributes))
                      : call(name, {e.x(0), e.x(1)}, std::move(attributes)));
}

/// Quotients of halves are divided in float.
void quantize_linear(ExpansionContext& e) {
  AttributeMap attributes = e.given();
  attributes["precision"] = static_cast<int64_t>(DataType::kFloat);
  linear(e, "QuantizeLinear", std::move(attributes));
}

void dequantize_linear(ExpansionContext& e) {
  linear(e, "DequantizeLinear", e.given());
}

// -- Element by element
// ----------------------------------------------------------------------------

/// The numbers that input `first` stands for; its scale and zero point are the next two inputs.
Term numbers(ExpansionContext& e, int first) {
  const Term codes = e.x(first);
  return dequantized(codes, single(e, first + 1), zero_point(e, first + 2, codes));
}

/// The zero point of input 0's codes that an input is, as a number.
Term zero_number(ExpansionContext& e, int input) {
  return cast_to(zero_point(e, input, e.x(0)), DataType::kFloat);
}

/// Their codes by the scale and the zero point that are inputs `scale` and the next one.
Term codes(ExpansionContext& e, Term numbers, int scale) {
  return quantized(numbers, single(e, scale), zero_point(e, scale + 1, e.x(0)));
}

/// Sums in units of the result's scale, rounded together with all zero points.
void add(ExpansionContext& e) {
  const Term a = e.x(0), b = e.x(3), unit = single(e, 6);
  const Term a_factor = single(e, 1) / unit, b_factor = single(e, 4) / unit;
  const Term fixed =
      zero_number(e, 7) - (a_factor * zero_number(e, 2) + b_factor * zero_number(e, 5));
  e.set(0, call("intarsia:AddCodes", {a, b, a_factor, fixed, b_factor}));
}

/// Products of integers, which are exact in float, rescaled and rounded together with the zero
/// point.
void multiply(ExpansionContext& e) {
  const Term factor = single(e, 1) * single(e, 4) / single(e, 6);
  e.set(0, call("intarsia:MultiplyCodes",
                {e.x(0), e.x(3), zero_number(e, 2), zero_number(e, 5), factor, zero_number(e, 7)}));
}

/// The codes of input `x`, whose scale and zero point follow it, by the table of `codes_of`: a
/// function of the numbers that all codes stand for.
template <class CodesOf>
Term mapped(ExpansionContext& e, int x, const CodesOf& codes_of) {
  const Term from = e.x(x);
  const Term all = dequantized(all_codes(from), single(e, x + 1), zero_point(e, x + 2, from));
  return call("intarsia:MapCodes", {from, codes_of(all)});
}

void map(ExpansionContext& e, const char* function, const AttributeMap& attributes) {
  e.set(0, mapped(e, 0, [&](Term all) { return codes(e, call(function, {all}, attributes), 3); }));
}

void sigmoid(ExpansionContext& e) {
  map(e, "Sigmoid", {});
}

void leaky_relu(ExpansionContext& e) {
  map(e, "LeakyRelu", e.given());
}

/// Input `x` in codes of another scale and zero point.
Term recoded(ExpansionContext& e, int x, Term scale, Term zero) {
  return mapped(e, x, [&](Term all) { return quantized(all, scale, zero); });
}

/// A choice of codes that both have been given anew.
void choose(ExpansionContext& e) {
  const Term scale = single(e, 7), zero = single(e, 8);
  e.set(0, where(e.x(0), recoded(e, 1, scale, zero), recoded(e, 4, scale, zero)));
}

void concatenate(ExpansionContext& e) {
  constexpr int kFirst = 2, kEach = 3;
  const Term scale = single(e, 0), zero = single(e, 1);
  std::vector<Term> parts;
  for (int input = kFirst; input < e.input_count(); input += kEach) {
    parts.push_back(recoded(e, input, scale, zero));
  }
  e.set(0, e.add("Concat", parts, e.given(), 1).front());
}

/// By the scale that a whole number of codes makes up 1 of, as ONNX Runtime has it; codes saturate.
void softmax(ExpansionContext& e) {
  const auto& a = e.attributes<QuantizedSoftmaxAttributes>();
  constexpr int kOneAxis = 13;  // the operator set that says so
  const Term x = numbers(e, 0), one = e.number(DataType::kFloat, 1);
  Term y = x;
  if (a.opset >= kOneAxis) {
    y = call("Softmax", {x}, {{"axis", int64_t{a.axis}}});
  } else {
    const Term rows = call("Flatten", {x}, {{"axis", int64_t{a.axis}}});
    y = reshape(call("Softmax", {rows}, {{"axis", int64_t{-1}}}), x);
  }
  e.set(0, quantized(y, one / call("Floor", {one / single(e, 3)}), single(e, 4)));
}

// -- Means
// -----------------------------------------------------------------------------------------

/// Means of numbers, rounded together with the zero point.
void average_pool(ExpansionContext& e) {
  const bool last = e.attributes<QuantizedAveragePoolAttributes>().channels_last != 0;
  AttributeMap attributes = e.given();
  attributes.erase("channels_last");
  const Term codes = e.x(0);
  if (codes.rank() < 3) {
    e.refuse("X has to have 3 axes or more, found " + std::to_string(codes.rank()));
  }
  const Term x = last ? channels_first(numbers(e, 0)) : numbers(e, 0);
  const Term zero = cast_to(zero_point(e, 4, codes), DataType::kFloat);
  const Term means = call("AveragePool", {x}, std::move(attributes)) / single(e, 3) + zero;
  const Term y = nearest(means, codes.known().type);
  e.set(0, last ? channels_last(y) : y);
}

/// Means over axes, from exact sums of the codes of input 0.
Term mean(ExpansionContext& e, const std::vector<int64_t>& axes, int64_t keepdims) {
  const Term x = e.x(0), over = e.integers(axes);
  const Term sums = call("intarsia:SumCodes", {x, over},
                         {{"keepdims", keepdims}, {"noop_with_empty_axes", int64_t{0}}});
  const Term reduced = axes.empty() ? shape_of(x) : call("Gather", {shape_of(x), over});
  const Term count = call("ReduceProd", {reduced}, {{"keepdims", int64_t{0}}});
  const Term factor = single(e, 1) / (single(e, 3) * cast_to(count, DataType::kFloat));
  const Term zeros =
      cast_to(zero_point(e, 2, x), DataType::kInt32) * cast_to(count, DataType::kInt32);
  return call("intarsia:Requantize", {sums, factor, zero_point(e, 4, x), -zeros});
}

void global_average_pool(ExpansionContext& e) {
  const int rank = e.x(0).rank();
  if (rank < 3) e.refuse("X has to have 3 axes or more, found " + std::to_string(rank));
  const int64_t last = e.attributes<QuantizedGlobalPoolAttributes>().channels_last;
  e.set(0, mean(e, axes_between(2 - last, rank - last), 1));
}

void reduce_mean(ExpansionContext& e) {
  const auto& a = e.attributes<QuantizedReduceMeanAttributes>();
  e.set(0, mean(e, {a.axes.view().begin(), a.axes.view().end()}, a.keepdims));
}

}  // namespace

void add_contrib_quantized_definitions(DefinitionRows& rows) {
  const ContribRows row(rows);
  constexpr TypeSet kRealTypes = types({DataType::kFloat, DataType::kFloat16});
  constexpr TypeSet kCodeTypes =
      kByteTypes | types({DataType::kInt16, DataType::kUint16, DataType::kInt4, DataType::kUint4});
  row("QuantizeLinear", quantize_linear,
      {{"x", "T1"},
       Parameter{"y_scale", "T1"}.with("()").of(Domain::kPositive),
       Parameter{"y_zero_point", "T2", kOptional}.with("()")},
      {{"y", "T2"}}, {{"T1", kRealTypes}, {"T2", kCodeTypes}}, codec_of<ChannelAxisAttributes>());
  row("DequantizeLinear", dequantize_linear,
      {{"x", "T1"},
       Parameter{"x_scale", "T2"}.with("()").of(Domain::kPositive),
       Parameter{"x_zero_point", "T1", kOptional}.with("()")},
      {{"y", "T2"}}, {{"T1", kCodeTypes | types({DataType::kInt32})}, {"T2", kRealTypes}},
      codec_of<ChannelAxisAttributes>());

  const std::vector<TypeConstraint> bytes{{"T", kByteTypes}, {"S", kFloatType}};
  const std::vector<Parameter> two{Parameter{"A", "T"}.with("... C"),
                                   Parameter{"A_scale", "S"}.with("()").of(Domain::kPositive),
                                   Parameter{"A_zero_point", "T", kOptional}.with("()"),
                                   Parameter{"B", "T"}.with("C | ... C"),
                                   Parameter{"B_scale", "S"}.with("()").of(Domain::kPositive),
                                   Parameter{"B_zero_point", "T", kOptional}.with("()"),
                                   Parameter{"C_scale", "S"}.with("()").of(Domain::kPositive),
                                   Parameter{"C_zero_point", "T", kOptional}.with("()")};
  row("QLinearAdd", add, two, {{"C", "T"}}, bytes, codec_of<NoAttributes>());
  row("QLinearMul", multiply, two, {{"C", "T"}}, bytes, codec_of<NoAttributes>());

  const auto one = [](Parameter::Kind x_zero, Parameter::Kind y_zero) {
    return std::vector<Parameter>{{"X", "T"},
                                  Parameter{"X_scale", "S"}.with("()").of(Domain::kPositive),
                                  Parameter{"X_zero_point", "T", x_zero}.with("()"),
                                  Parameter{"Y_scale", "S"}.with("()").of(Domain::kPositive),
                                  Parameter{"Y_zero_point", "T", y_zero}.with("()")};
  };
  constexpr auto kRequired = Parameter::kRequired;
  row("QLinearSigmoid", sigmoid, one(kOptional, kOptional), {{"Y", "T"}}, bytes,
      codec_of<NoAttributes>());
  row("QLinearLeakyRelu", leaky_relu, one(kOptional, kOptional), {{"Y", "T"}}, bytes,
      codec_of<LeakyReluAttributes>());
  row("QLinearSoftmax", softmax, one(kOptional, kRequired), {{"Y", "T"}}, bytes,
      codec_of<QuantizedSoftmaxAttributes>());
  row("QLinearAveragePool", average_pool, one(kOptional, kOptional), {{"Y", "T"}}, bytes,
      codec_of<QuantizedAveragePoolAttributes>());
  row("QLinearGlobalAveragePool", global_average_pool, one(kRequired, kRequired), {{"Y", "T"}},
      bytes, codec_of<QuantizedGlobalPoolAttributes>());
  row("QLinearReduceMean", reduce_mean, one(kOptional, kOptional), {{"Y", "T"}}, bytes,
      codec_of<QuantizedReduceMeanAttributes>());
  constexpr auto kVariadic = Parameter::kVariadic;
  row("QLinearConcat", concatenate,
      {Parameter{"Y_scale", "S"}.with("()").of(Domain::kPositive),
       Parameter{"Y_zero_point", "T"}.with("()"), Parameter{"X", "T", kVariadic}.with("B C D"),
       Parameter{"X_scale", "S", kVariadic}.with("()").of(Domain::kPositive),
       Parameter{"X_zero_point", "T", kVariadic}.with("()")},
      {{"Y", "T"}}, bytes, codec_of<RequiredAxisAttributes>());
  row("QLinearWhere", choose,
      {Parameter{"condition", "B"}.with("... C"), Parameter{"X", "T"}.with("... C | C"),
       Parameter{"x_scale", "S"}.with("()").of(Domain::kPositive),
       Parameter{"x_zero_point", "T"}.with("()"), Parameter{"Y", "T"}.with("C | ... C"),
       Parameter{"y_scale", "S"}.with("()").of(Domain::kPositive),
       Parameter{"y_zero_point", "T"}.with("()"),
       Parameter{"z_scale", "S"}.with("()").of(Domain::kPositive),
       Parameter{"z_zero_point", "T"}.with("()")},
      {{"Z", "T"}}, {{"B", kBoolType}, {"T", kByteTypes}, {"S", kFloatType}},
      codec_of<NoAttributes>());
}

}  // namespace intarsia::definitions
