// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/quantization.h"

#include <algorithm>
#include <cmath>

#include "core/operators/quantization/quantize.h"

namespace intarsia::converter {
namespace {

bool is_byte(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8;
}

/// The parameters of a node of QuantizeLinear or DequantizeLinear, inputs 1 and 2, for codes of
/// this type; nothing if they are not constant floats.
template <class Attributes>
std::optional<Quantization> quantization_of(const Node& node, DataType codes) {
  const auto& attributes = node.typed<Attributes>();
  const Constant* scale = constant_of(node.input(1));
  if (attributes.block_size != 0 || scale == nullptr || scale->type != DataType::kFloat ||
      scale->rank() > 1 || scale->count() == 0) {
    return std::nullopt;
  }
  Quantization q{node.input(2), codes, scale->reals(), attributes.axis};
  const auto usable = [](double s) { return s > 0 && std::isfinite(s); };
  if (!std::all_of(q.scales.begin(), q.scales.end(), usable)) return std::nullopt;
  if (q.zero != nullptr && constant_of(q.zero) == nullptr) return std::nullopt;
  return q;
}

}  // namespace

std::optional<Dequantized> dequantized_bytes(const Value* value) {
  const Node* node = value != nullptr ? value->producer : nullptr;
  if (node == nullptr || node->op == nullptr || !node->fuses_as("DequantizeLinear"))
    return std::nullopt;
  const DataType type = type_of(*node->inputs[0]);
  if (value->type != DataType::kFloat || !is_byte(type)) return std::nullopt;
  const auto by = quantization_of<DequantizeAttributes>(*node, type);
  if (!by) return std::nullopt;
  return Dequantized{node->inputs[0], *by};
}

std::optional<Quantization> quantizes(const Node* node) {
  if (node == nullptr || node->op == nullptr || !node->fuses_as("QuantizeLinear"))
    return std::nullopt;
  const DataType type = node->outputs[0]->type;
  if (type_of(*node->inputs[0]) != DataType::kFloat || !is_byte(type)) return std::nullopt;
  if (node->typed<QuantizeAttributes>().precision > 1) return std::nullopt;
  return quantization_of<QuantizeAttributes>(*node, type);
}

}  // namespace intarsia::converter
