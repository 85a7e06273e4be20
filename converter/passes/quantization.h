// SPDX-License-Identifier: Apache-2.0
//
// What the nodes of QuantizeLinear and DequantizeLinear of a model say, for the passes.
#pragma once

#include <optional>
#include <vector>

#include "converter/graph/graph.h"
#include "converter/passes/fold.h"

namespace intarsia::converter {

/// The elements of an operand, if it is there and they are known.
inline const Constant* constant_of(const Value* value) {
  return value != nullptr ? known_constant(*value) : nullptr;
}

/// How numbers stand for others: (code - zero) * scale.
struct Quantization {
  Value* zero = nullptr;  ///< Constant; null: 0.
  DataType type = DataType::kUndefined;
  std::vector<double> scales;  ///< One, or one for each position of an axis.
  int64_t axis = 1;

  bool is_single() const { return scales.size() == 1; }
  /// The zero points; those that are not there are 0.
  std::vector<int64_t> zeros() const {
    return zero != nullptr ? constant_of(zero)->integers() : std::vector<int64_t>{0};
  }
  /// Those of the same single scale and zero point.
  bool same(const Quantization& other) const {
    return is_single() && scales == other.scales && type == other.type && zeros() == other.zeros();
  }
};

/// What a DequantizeLinear makes floats of.
struct Dequantized {
  Value* codes;
  Quantization by;
};
/// Of a value that one gives, of bytes by constant parameters and without blocks; else nothing.
std::optional<Dequantized> dequantized_bytes(const Value* value);
/// What a QuantizeLinear makes bytes by, likewise; nothing if `node` is none.
std::optional<Quantization> quantizes(const Node* node);

}  // namespace intarsia::converter
