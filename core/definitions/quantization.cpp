// SPDX-License-Identifier: Apache-2.0
//
// Operators on quantised tensors.
#include "core/definitions/rows.h"
#include "core/operators/quantization/codes.h"
#include "core/operators/quantization/matmul_blocks.h"
#include "core/operators/quantization/quantize.h"

namespace intarsia::definitions {
namespace {

constexpr TypeSet kQuantizedTypes =
    kSmallFloatTypes | kPackedIntegerTypes |
    types({DataType::kInt8, DataType::kUint8, DataType::kInt16, DataType::kUint16});
constexpr TypeSet kRealTypes = types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});

/// Every code is its own entry of the table.
bool maps_to_itself(const std::byte*, std::span<const SymbolicInput> inputs) {
  const auto& table = inputs[1].values;
  if (!table) return false;
  for (size_t code = 0; code < table->size(); ++code) {
    const Dim& entry = (*table)[code];
    if (!entry.is_constant() || (entry.constant() & 0xff) != static_cast<int64_t>(code))
      return false;
  }
  return true;
}

}  // namespace

void add_quantization_definitions(DefinitionRows& rows) {
  add<ops::QuantizeLinear>(
      rows, {.name = "QuantizeLinear",
             .since_version = 28,
             .inputs = {same({"x", "T1"}), apart({"y_scale", "T2"}).of(Domain::kPositive),
                        apart({"y_zero_point", "T3", Parameter::kOptional})},
             .outputs = {same({"y", "T3"})},
             .facts = {.axes = {.form = AxisForm::kOne,
                                .attribute = attribute<&QuantizeAttributes::axis>(),
                                .fixed_if = attribute<&QuantizeAttributes::block_size>()},
                       .exact = true},
             .types = {{"T1", kRealTypes | types({DataType::kInt32})},
                       {"T2", kRealTypes | types({DataType::kInt32, DataType::kFloat8E8M0})},
                       {"T3", kQuantizedTypes}},
             .kernel_types = {"T1", "T3"},
             .attributes = codec_of<QuantizeAttributes>()});
  add<ops::Requantize>(
      rows, {.domain = kInternalDomain,
             .name = "Requantize",
             .inputs = {same({"x", "T1"}), apart({"scale", "T2"}).of(Domain::kPositive),
                        apart({"zero_point", "T3"}), apart({"bias", "T1", Parameter::kOptional})},
             .outputs = {same({"y", "T3"})},
             .facts = {.axes = {.form = AxisForm::kOne,
                                .attribute = attribute<&RequantizeAttributes::axis>()},
                       .exact = true},
             .types = {{"T1", types({DataType::kInt32})},
                       {"T2", types({DataType::kFloat})},
                       {"T3", kByteTypes}},
             .kernel_types = {"T3"},
             .attributes = codec_of<RequantizeAttributes>()});
  add<ops::DequantizeLinear>(
      rows, {.name = "DequantizeLinear",
             .since_version = 28,
             .inputs = {same({"x", "T1"}), apart({"x_scale", "T2"}).of(Domain::kPositive),
                        apart({"x_zero_point", "T1", Parameter::kOptional})},
             .outputs = {same({"y", "T3"})},
             .facts = {.axes = {.form = AxisForm::kOne,
                                .attribute = attribute<&DequantizeAttributes::axis>(),
                                .fixed_if = attribute<&DequantizeAttributes::block_size>()}},
             .types = {{"T1", kQuantizedTypes | types({DataType::kInt32})},
                       {"T2", kRealTypes | types({DataType::kFloat8E8M0})},
                       {"T3", kRealTypes}},
             .kernel_types = {"T1", "T3"},
             .attributes = codec_of<DequantizeAttributes>()});
  constexpr TypeSet kFloat = types({DataType::kFloat});
  for (const auto& [name, numbers] :
       {std::pair("AddCodes", std::vector{"A_factor", "addend", "B_factor"}),
        {"MultiplyCodes", {"A_zero", "B_zero", "factor", "addend"}},
        {"AddDequantized", {"A_zero", "A_scale", "B_zero", "B_scale", "scale", "zero"}},
        {"MultiplyDequantized", {"A_zero", "A_scale", "B_zero", "B_scale", "scale", "zero"}}}) {
    std::vector<Parameter> inputs{broadcast({"A", "T"}), broadcast({"B", "T"})};
    for (const char* number : numbers) inputs.push_back(apart({number, "S"}));
    add<ops::CombineCodes>(rows, {.domain = kInternalDomain,
                                  .name = name,
                                  .inputs = inputs,
                                  .outputs = {same({"Y", "T"})},
                                  .facts = {.element_wise = true, .exact = true},
                                  .types = {{"T", kByteTypes}, {"S", kFloat}},
                                  .attributes = codec_of<NoAttributes>()});
  }
  add<ops::MapCodes>(rows,
                     {.domain = kInternalDomain,
                      .name = "MapCodes",
                      .inputs = {same({"X", "T"}), apart({"table", "T"})},
                      .outputs = {same({"Y", "T"})},
                      .facts = {.element_wise = true, .exact = true, .copies = maps_to_itself},
                      .types = {{"T", kByteTypes}},
                      .attributes = codec_of<NoAttributes>()});
  constexpr TypeSet kByte = types({DataType::kUint8});
  add<ops::MatMulBlocks>(
      rows, {.domain = kInternalDomain,
             .name = "MatMulBlocks",
             .inputs = {apart({"A", "T1"}), apart({"codes", "T2"}), apart({"scales", "T1"}),
                        apart({"zeros", "T3", Parameter::kOptional})},
             .outputs = {apart({"Y", "T1"})},
             .facts = {.axes = {.form = AxisForm::kPosition}},
             .types = {{"T1", kFloat},
                       {"T2", kByte | types({DataType::kUint4, DataType::kUint2})},
                       {"T3", kByte}},
             .kernel_types = {"T2"},
             .attributes = codec_of<MatMulBlocksAttributes>()});
}

}  // namespace intarsia::definitions
