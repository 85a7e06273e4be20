// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators, in their newest form.
#include "core/operators/pointwise.h"

#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

constexpr std::string_view kHeader = "core/operators/pointwise.h";

/// y = f(x), both of type T.
template <class A = NoAttributes>
void add_unary(DefinitionRows& rows, std::string_view name, int since, TypeSet types) {
  add<ops::SameShape>(rows, "intarsia::ops::SameShape", kHeader,
                      {.name = name,
                       .since_version = since,
                       .inputs = {{"X", "T"}},
                       .outputs = {{"Y", "T"}},
                       .types = {{"T", types}},
                       .attributes = codec_of<A>(),
                       .in_place = {0}});
}

/// y = f(x), a bool for each x of type T1.
template <class A = NoAttributes>
void add_predicate(DefinitionRows& rows, std::string_view name, int since, TypeSet types) {
  add<ops::SameShape>(rows, "intarsia::ops::SameShape", kHeader,
                      {.name = name,
                       .since_version = since,
                       .inputs = {{"X", "T1"}},
                       .outputs = {{"Y", "T2"}},
                       .types = {{"T1", types}, {"T2", kBoolType}},
                       .kernel_types = {"T1"},
                       .attributes = codec_of<A>(),
                       .result_type = DataType::kBool});
}

/// c = f(a, b), all of type T.
template <class A = NoAttributes>
void add_binary(DefinitionRows& rows, std::string_view name, int since, TypeSet types) {
  add<ops::Broadcast>(rows, "intarsia::ops::Broadcast", kHeader,
                      {.name = name,
                       .since_version = since,
                       .inputs = {{"A", "T"}, {"B", "T"}},
                       .outputs = {{"C", "T"}},
                       .types = {{"T", types}},
                       .attributes = codec_of<A>(),
                       .in_place = {0, 1}});
}

/// c = f(a, b), a bool for each pair of type T.
void add_comparison(DefinitionRows& rows, std::string_view name, int since, TypeSet types) {
  add<ops::Broadcast>(rows, "intarsia::ops::Broadcast", kHeader,
                      {.name = name,
                       .since_version = since,
                       .inputs = {{"A", "T"}, {"B", "T"}},
                       .outputs = {{"C", "T1"}},
                       .types = {{"T", types}, {"T1", kBoolType}},
                       .attributes = codec_of<NoAttributes>(),
                       .result_type = DataType::kBool,
                       .in_place = {0, 1}});
}

void add_variadic(DefinitionRows& rows, std::string_view name, int since, TypeSet types) {
  add<ops::Broadcast>(rows, "intarsia::ops::Broadcast", kHeader,
                      {.name = name,
                       .since_version = since,
                       .inputs = {{"data_0", "T", Parameter::kVariadic}},
                       .outputs = {{"result", "T"}},
                       .types = {{"T", types}},
                       .attributes = codec_of<NoAttributes>(),
                       .in_place = {0, 1}});
}

void add_unary_definitions(DefinitionRows& rows) {
  add_unary(rows, "Abs", 13, kNumericTypes);
  add_unary(rows, "Acos", 22, kFloatTypes);
  add_unary(rows, "Acosh", 22, kFloatTypes);
  add_unary(rows, "Asin", 22, kFloatTypes);
  add_unary(rows, "Asinh", 22, kFloatTypes);
  add_unary(rows, "Atan", 22, kFloatTypes);
  add_unary(rows, "Atanh", 22, kFloatTypes);
  add_unary(rows, "BitwiseNot", 18, kIntegerTypes);
  add_unary(rows, "Ceil", 13, kFloatTypes);
  add_unary<AlphaAttributes>(rows, "Celu", 28, kFloatTypes);
  add_unary(rows, "Cos", 22, kFloatTypes);
  add_unary(rows, "Cosh", 22, kFloatTypes);
  add_unary<AlphaAttributes>(rows, "Elu", 22, kFloatTypes);
  add_unary(rows, "Erf", 13, kFloatTypes);
  add_unary(rows, "Exp", 13, kFloatTypes);
  add_unary(rows, "Floor", 13, kFloatTypes);
  add_unary<GeluAttributes>(rows, "Gelu", 20, kFloatTypes);
  add_unary<HardSigmoidAttributes>(rows, "HardSigmoid", 22, kFloatTypes);
  add_unary(rows, "HardSwish", 22, kFloatTypes);
  add_predicate<IsInfAttributes>(rows, "IsInf", 20, kFloatTypes);
  add_predicate(rows, "IsNaN", 20, kFloatTypes);
  add_unary<LeakyReluAttributes>(rows, "LeakyRelu", 16, kFloatTypes);
  add_unary(rows, "Log", 13, kFloatTypes);
  add_unary(rows, "Mish", 22, kFloatTypes);
  add_unary(rows, "Neg", 13, kFloatTypes | kSignedIntegerTypes);
  add_unary(rows, "Not", 1, kBoolType);
  add_unary(rows, "Reciprocal", 13, kFloatTypes);
  add_unary(rows, "Relu", 14, kFloatTypes | kSignedIntegerTypes);
  add_unary(rows, "Round", 22, kFloatTypes);
  add_unary<SeluAttributes>(rows, "Selu", 22, kFloatTypes);
  add_unary(rows, "Sigmoid", 13, kFloatTypes);
  add_unary(rows, "Sign", 13, kNumericTypes);
  add_unary(rows, "Sin", 22, kFloatTypes);
  add_unary(rows, "Sinh", 22, kFloatTypes);
  add_unary(rows, "Softplus", 22, kFloatTypes);
  add_unary(rows, "Softsign", 22, kFloatTypes);
  add_unary(rows, "Sqrt", 13, kFloatTypes);
  add_unary<AlphaAttributes>(rows, "Swish", 24, kFloatTypes);
  add_unary(rows, "Tan", 22, kFloatTypes);
  add_unary(rows, "Tanh", 13, kFloatTypes);
  add_unary<AlphaAttributes>(rows, "ThresholdedRelu", 22, kFloatTypes);
}

void add_binary_definitions(DefinitionRows& rows) {
  add_binary(rows, "Add", 14, kNumericTypes);
  add_binary(rows, "Sub", 14, kNumericTypes);
  add_binary(rows, "Mul", 14, kNumericTypes);
  add_binary(rows, "Div", 14, kNumericTypes);
  add_binary<ModAttributes>(rows, "Mod", 28, kNumericTypes);
  add_binary<BitShiftAttributes>(rows, "BitShift", 28, kIntegerTypes);
  add_binary(rows, "BitwiseAnd", 18, kIntegerTypes);
  add_binary(rows, "BitwiseOr", 18, kIntegerTypes);
  add_binary(rows, "BitwiseXor", 18, kIntegerTypes);
  add_comparison(rows, "And", 7, kBoolType);
  add_comparison(rows, "Or", 7, kBoolType);
  add_comparison(rows, "Xor", 7, kBoolType);
  add_comparison(rows, "Equal", 19, kNumericTypes | kBoolType);
  add_comparison(rows, "Less", 13, kNumericTypes);
  add_comparison(rows, "LessOrEqual", 16, kNumericTypes);
  add_comparison(rows, "Greater", 13, kNumericTypes);
  add_comparison(rows, "GreaterOrEqual", 16, kNumericTypes);
  add_variadic(rows, "Min", 13, kNumericTypes);
  add_variadic(rows, "Max", 13, kNumericTypes);
  add_variadic(rows, "Sum", 13, kFloatTypes);
  add_variadic(rows, "Mean", 13, kFloatTypes);
  // The slope is broadcast to the input, so the input alone gives the extents.
  add<ops::SameShape>(
      rows, "intarsia::ops::SameShape", kHeader,
      {.name = "PRelu",
       .since_version = 16,
       .inputs = {{"X", "T"}, {"slope", "T"}},
       .outputs = {{"Y", "T"}},
       .types = {{"T", kFloatTypes | types({DataType::kInt32, DataType::kInt64, DataType::kUint32,
                                            DataType::kUint64})}},
       .attributes = codec_of<NoAttributes>(),
       .in_place = {0}});
  add<ops::Broadcast>(rows, "intarsia::ops::Broadcast", kHeader,
                      {.name = "Pow",
                       .since_version = 15,
                       .inputs = {{"X", "T"}, {"Y", "T1"}},
                       .outputs = {{"Z", "T"}},
                       .types = {{"T", kFloatTypes | kIndexTypes}, {"T1", kNumericTypes}},
                       .kernel_types = {"T", "T1"},
                       .attributes = codec_of<NoAttributes>(),
                       .in_place = {0}});
}

}  // namespace

void add_pointwise_definitions(DefinitionRows& rows) {
  add_unary_definitions(rows);
  add_binary_definitions(rows);
  add<ops::WhereShape>(rows, "intarsia::ops::WhereShape", kHeader,
                       {.name = "Where",
                        .since_version = 16,
                        .inputs = {{"condition", "B"}, {"X", "T"}, {"Y", "T"}},
                        .outputs = {{"output", "T"}},
                        .types = {{"B", kBoolType}, {"T", kAnyTypes}},
                        .attributes = codec_of<NoAttributes>(),
                        .in_place = {1, 2}});
  add<ops::SameShape>(rows, "intarsia::ops::SameShape", kHeader,
                      {.name = "Clip",
                       .since_version = 13,
                       .inputs = {{"input", "T"},
                                  {"min", "T", Parameter::kOptional},
                                  {"max", "T", Parameter::kOptional}},
                       .outputs = {{"output", "T"}},
                       .types = {{"T", kNumericTypes}},
                       .attributes = codec_of<NoAttributes>(),
                       .in_place = {0}});
  add<ops::Cast>(rows, "intarsia::ops::Cast", kHeader,
                 {.name = "Cast",
                  .since_version = 28,
                  .inputs = {{"input", "T1"}},
                  .outputs = {{"output", "T2"}},
                  .types = {{"T1", kNumericTypes | kBoolType}, {"T2", kNumericTypes | kBoolType}},
                  .kernel_types = {"T1", "T2"},
                  .attributes = codec_of<CastAttributes>(),
                  .in_place = {0}});
}

}  // namespace intarsia::definitions
