// SPDX-License-Identifier: Apache-2.0
//
// Sums of products of bytes as codes: y = saturate(round((sum + bias) * scale) + zero point), ties
// to even. Sums of 32 bits, which wrap around, become floats, rounded, and so do their products
// with the scale; NaN becomes the lowest code. The same bits on every instruction set.
#pragma once

#include "kernels_cpu/gemm/byte_panels.h"

namespace intarsia::cpu {

/// What becomes of the columns of a product.
struct ByteCodes {
  const float* scale;  ///< Of each column, to the end of the last panel.
  const int32_t* bias;
  int32_t zero;
  bool is_signed;  ///< Codes of [-128, 127], not of [0, 255].
  ptrdiff_t columns;
  uint8_t* y;  ///< Of row 0 and column 0.
  ptrdiff_t y_pitch;
};

/// Whether an instruction set has a way of its own to make codes.
constexpr bool has_code_tiles(Isa isa) {
  return vector_isa(isa) == Isa::kAvx512 || vector_isa(isa) == Isa::kAvx2;
}

/// Writes the codes of these sums, of no columns from `columns` on.
void store_codes(const ByteSums& sums, const ByteCodes& codes, Isa isa);

/// The same of such an instruction set; defined in typed_<isa>.cpp.
template <Isa I>
struct CodeTiles {
  static void store(const ByteSums& sums, const ByteCodes& codes);
};

}  // namespace intarsia::cpu
