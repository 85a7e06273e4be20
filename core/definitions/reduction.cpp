// SPDX-License-Identifier: Apache-2.0
//
// Operators that reduce or run along axes, in their newest form: the axes of Reduce* are an input.
#include "core/operators/reduction/reduction.h"

#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/definitions/value_propagation.h"
#include "core/operators/elementwise/elementwise.h"
#include "core/operators/nn/softmax.h"

namespace intarsia::definitions {
namespace {

constexpr TypeSet kWideIntegerTypes = kIndexTypes | types({DataType::kUint32, DataType::kUint64});
constexpr TypeSet kSumTypes = kFloatTypes | kWideIntegerTypes;
constexpr TypeSet kExtremeTypes =
    kSumTypes | kBoolType | types({DataType::kInt8, DataType::kUint8});

void add_reduce(DefinitionRows& rows, std::string_view name, int since, TypeSet types,
                GradientRule gradient, Domain domain = Domain::kAny, bool exact = false,
                PropagationRule propagate = nullptr) {
  add<ops::Reduce>(
      rows,
      {.name = name,
       .since_version = since,
       .inputs = {same({"data", "T"}).of(domain),
                  apart({"axes", "I", Parameter::kOptional}).deciding(Domain::kAxis)},
       .outputs = {dropped({"reduced", "T"})},
       .facts = {.axes = {.form = AxisForm::kSet,
                          .input = 1,
                          .absent = NoAxes::kAll,
                          .keep = attribute<&ReduceAttributes::keepdims>(),
                          .none_if_absent = attribute<&ReduceAttributes::noop_with_empty_axes>()},
                 .exact = exact,
                 .propagate = propagate,
                 .gradient = gradient},
       .types = {{"T", types}, {"I", kInt64Type}},
       .attributes = codec_of<ReduceAttributes>()});
}

/// Along axes as ReduceSum has them, which is the last row.
void add_sum_codes(DefinitionRows& rows) {
  OperatorDefinition definition = rows.back();
  definition.domain = kInternalDomain;
  definition.name = ops::SumCodes::name;
  definition.outputs = {dropped({"reduced", "S"})};
  definition.facts.propagate = nullptr;
  definition.facts.gradient = nullptr;
  definition.types = {{"T", kByteTypes}, {"S", types({DataType::kInt32})}, {"I", kInt64Type}};
  definition.result_type = DataType::kInt32;
  add<ops::SumCodes>(rows, std::move(definition));
}

void add_arg_reduce(DefinitionRows& rows, std::string_view name) {
  add<ops::ArgReduce>(rows,
                      {.name = name,
                       .since_version = 13,
                       .inputs = {same({"data", "T"})},
                       .outputs = {dropped({"reduced", "I"})},
                       .facts = {.axes = {.form = AxisForm::kOne,
                                          .attribute = attribute<&ArgReduceAttributes::axis>(),
                                          .keep = attribute<&ArgReduceAttributes::keepdims>()},
                                 .exact = true},
                       .types = {{"T", kNumericTypes}, {"I", kInt64Type}},
                       .attributes = codec_of<ArgReduceAttributes>(),
                       .result_type = DataType::kInt64});
}

void add_softmax(DefinitionRows& rows, std::string_view name, GradientRule gradient,
                 bool exact = false) {
  add<ops::Softmax>(rows, {.name = name,
                           .since_version = 13,
                           .inputs = {same({"input", "T"})},
                           .outputs = {same({"output", "T"})},
                           .facts = {.axes = {.form = AxisForm::kOne,
                                              .attribute = attribute<&SoftmaxAttributes::axis>()},
                                     .exact = exact,
                                     .gradient = gradient},
                           .types = {{"T", kFloatTypes}},
                           .attributes = codec_of<SoftmaxAttributes>()});
}

void add_cumulative(DefinitionRows& rows, std::string_view name, int since, GradientRule gradient) {
  add<ops::SameShape>(
      rows,
      {.name = name,
       .since_version = since,
       .inputs = {same({"x", "T"}), apart({"axis", "T2"}).of(Domain::kAxis)},
       .outputs = {same({"y", "T"})},
       .facts = {.axes = {.form = AxisForm::kOne, .input = 1}, .exact = true, .gradient = gradient},
       .types = {{"T", kSumTypes}, {"T2", kIndexTypes}},
       .attributes = codec_of<CumulativeAttributes>()});
}

}  // namespace

void add_reduction_definitions(DefinitionRows& rows) {
  add_reduce(rows, "ReduceL1", 18, kSumTypes, gradients::reduce_l1, Domain::kAny, true);
  add_reduce(rows, "ReduceL2", 18, kSumTypes, gradients::reduce_l2);
  add_reduce(rows, "ReduceLogSum", 28, kFloatTypes, gradients::reduce_log_sum, Domain::kPositive);
  add_reduce(rows, "ReduceLogSumExp", 28, kFloatTypes, gradients::reduce_log_sum_exp);
  add_reduce(rows, "ReduceMax", 20, kExtremeTypes, gradients::reduce_extreme, Domain::kAny, true,
             propagation::kReduceMax);
  add_reduce(rows, "ReduceMean", 18, kSumTypes, gradients::reduce_mean);
  add_reduce(rows, "ReduceMin", 20, kExtremeTypes, gradients::reduce_extreme, Domain::kAny, true,
             propagation::kReduceMin);
  add_reduce(rows, "ReduceProd", 18, kSumTypes, gradients::reduce_product, Domain::kSmall, false,
             propagation::kReduceProduct);
  add_reduce(rows, "ReduceSum", 13, kSumTypes, gradients::reduce_sum, Domain::kAny, true,
             propagation::kReduceSum);
  add_sum_codes(rows);
  add_reduce(rows, "ReduceSumSquare", 18, kSumTypes, gradients::reduce_sum_square, Domain::kAny,
             true);
  add_arg_reduce(rows, "ArgMax");
  add_arg_reduce(rows, "ArgMin");
  add_softmax(rows, "Softmax", gradients::softmax);
  add_softmax(rows, "LogSoftmax", gradients::log_softmax);
  add_softmax(rows, "Hardmax", gradients::zero, true);
  add_cumulative(rows, "CumSum", 14, gradients::cumulate);
  add_cumulative(rows, "CumProd", 26, gradients::cumulative_product);
}

}  // namespace intarsia::definitions
