// SPDX-License-Identifier: Apache-2.0
//
// How an operator family adds its definitions.
//
//     void add_movement_definitions(DefinitionRows& rows) {
//       add<ops::Transpose>(rows,
//                           {.name = "Transpose",
//                            .inputs = {{"data", "T"}},
//                            .outputs = {{"transposed", "T"}},
//                            .types = {{"T", kAnyTypes}},
//                            .attributes = codec_of<TransposeAttributes>()});
//     }
//
// Families call each other never; registry.cpp calls them all.
#pragma once

#include <utility>
#include <vector>

#include "core/definitions/attribute_codec.h"
#include "core/definitions/definition.h"

// A row names only the members that differ from their defaults; GCC warns of the others even where
// the initialisers are designated.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
// A row of a list of rows, some members of which are left out: a false alarm of GCC 12.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace intarsia::definitions {

using DefinitionRows = std::vector<OperatorDefinition>;

/// The shape function of `Rule` over symbolic extents.
template <class Rule>
SymbolicRule rule() {
  return [](SymbolicShapeContext& context) { return Rule::infer(context); };
}

/// Fills in what a definition says of its shape rule.
template <class Rule>
void use_rule(OperatorDefinition& definition) {
  definition.infer = rule<Rule>();
  definition.shape = shape_function_of<Rule>();
  definition.shape_name = Rule::name;
}

/// Adds one operator with its shape rule, which core/operators/shape_functions.cpp lists too.
template <class Rule>
void add(DefinitionRows& rows, OperatorDefinition definition) {
  use_rule<Rule>(definition);
  rows.push_back(std::move(definition));
}

// Type sets that many operators share. Types of less than a byte are absent but for those that say
// so.
inline constexpr TypeSet kFloatTypes =
    types({DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16});
inline constexpr TypeSet kSignedIntegerTypes =
    types({DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64});
inline constexpr TypeSet kUnsignedIntegerTypes =
    types({DataType::kUint8, DataType::kUint16, DataType::kUint32, DataType::kUint64});
inline constexpr TypeSet kIntegerTypes = kSignedIntegerTypes | kUnsignedIntegerTypes;
inline constexpr TypeSet kNumericTypes = kFloatTypes | kIntegerTypes;
inline constexpr TypeSet kBoolType = types({DataType::kBool});
inline constexpr TypeSet kStringType = types({DataType::kString});
inline constexpr TypeSet kIndexTypes = types({DataType::kInt32, DataType::kInt64});
inline constexpr TypeSet kByteTypes = types({DataType::kInt8, DataType::kUint8});
inline constexpr TypeSet kInt64Type = types({DataType::kInt64});
/// What ONNX lists for operators that are older than 8-bit floating-point types.
inline constexpr TypeSet kPlainTypes =
    kNumericTypes | kBoolType | kStringType | types({DataType::kComplex64, DataType::kComplex128});
inline constexpr TypeSet kFloat8Types = types({DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                                               DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ});
/// Whole-byte elements: what kernels that only move elements (`Width<...>`) accept.
inline constexpr TypeSet kAnyTypes = kPlainTypes | kFloat8Types | types({DataType::kFloat8E8M0});
inline constexpr TypeSet kPackedIntegerTypes =
    types({DataType::kUint4, DataType::kInt4, DataType::kUint2, DataType::kInt2});
inline constexpr TypeSet kSmallFloatTypes =
    kFloat8Types | types({DataType::kFloat4E2M1, DataType::kFloat6E2M3, DataType::kFloat6E3M2});
/// Every element type.
inline constexpr TypeSet kElementTypes = kAnyTypes | kSmallFloatTypes | kPackedIntegerTypes;

/// What Cast takes and makes.
inline constexpr TypeSet kCastTypes = kNumericTypes | kBoolType | kStringType | kSmallFloatTypes |
                                      kPackedIntegerTypes | types({DataType::kFloat8E8M0});

/// The bytes of sequences and of optional values.
inline constexpr TypeSet kSequenceTypes = types({DataType::kSequence, DataType::kOptional});
inline constexpr TypeSet kMapType = types({DataType::kMap});

void add_sequence_definitions(DefinitionRows& rows);
void add_map_definitions(DefinitionRows& rows);
void add_ml_definitions(DefinitionRows& rows);
void add_shape_ops_definitions(DefinitionRows& rows);
void add_control_definitions(DefinitionRows& rows);
void add_pointwise_definitions(DefinitionRows& rows);
void add_reduction_definitions(DefinitionRows& rows);
void add_movement_definitions(DefinitionRows& rows);
void add_indexing_definitions(DefinitionRows& rows);
void add_nn_definitions(DefinitionRows& rows);
void add_nn_normalization_definitions(DefinitionRows& rows);
void add_linear_algebra_definitions(DefinitionRows& rows);
void add_recurrent_definitions(DefinitionRows& rows);
void add_random_definitions(DefinitionRows& rows);
void add_expanded_definitions(DefinitionRows& rows);
void add_attention_definitions(DefinitionRows& rows);
void add_flex_attention_definitions(DefinitionRows& rows);
void add_fourier_definitions(DefinitionRows& rows);
void add_window_definitions(DefinitionRows& rows);
void add_quantized_product_definitions(DefinitionRows& rows);
void add_quantization_definitions(DefinitionRows& rows);
void add_string_definitions(DefinitionRows& rows);
void add_training_definitions(DefinitionRows& rows);
// Operators of ONNX Runtime's domain, most of which become those of ONNX.
void add_contrib_definitions(DefinitionRows& rows);
void add_contrib_normalization_definitions(DefinitionRows& rows);
void add_contrib_attention_definitions(DefinitionRows& rows);
void add_contrib_group_query_definitions(DefinitionRows& rows);
void add_contrib_quantized_definitions(DefinitionRows& rows);
void add_contrib_quantized_product_definitions(DefinitionRows& rows);
void add_contrib_quantized_block_definitions(DefinitionRows& rows);

/// The domain of ONNX Runtime's own operators.
inline constexpr std::string_view kContribDomain = "com.microsoft";

}  // namespace intarsia::definitions
