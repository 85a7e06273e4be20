// SPDX-License-Identifier: Apache-2.0
//
// Sums of codes (core/operators/quantization/codes.h) on the vectors of one instruction set, which
// widen, round and saturate bytes by instructions of their own.
#pragma once

#include <cstdint>

#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// round((factor x + addend) + other y), saturated. Multiplications and additions are fused: the
/// numbers are such that this makes no difference.
struct CodeSum {
  float factor, addend, other;
  bool is_signed;  ///< Codes of [-128, 127], not of [0, 255].

  /// Whether all sums have integers of 32 bits.
  bool is_bounded() const {
    const auto size = [](float number) { return number < 0 ? -number : number; };
    return 255 * (size(factor) + size(other)) + size(addend) < 0x1p30f;
  }
};

template <Isa I>
struct CodeSums {
  /// z[i] of x[i] and y[i] for i in [0, n). z may be x or y.
  /// REQUIRES: sum.is_bounded().
  static void add(const uint8_t* x, const uint8_t* y, uint8_t* z, int64_t n, const CodeSum& sum);
};

/// The instruction sets that have it.
constexpr bool has_code_sums(Isa isa) {
  return vector_isa(isa) == Isa::kAvx512 || vector_isa(isa) == Isa::kAvx2;
}

}  // namespace intarsia::cpu
