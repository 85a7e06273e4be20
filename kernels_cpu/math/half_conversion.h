// SPDX-License-Identifier: Apache-2.0
//
// float16 to float and back over arrays, by the instructions of F16C, which every processor with
// AVX2 that this project serves has. The same bits as the conversions of intarsia/types.h, but that
// a signalling NaN becomes a quiet one on the way to float.
#pragma once

#include <cstdint>

#include "intarsia/types.h"
#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// Of Isa::kAvx2 alone, in vector_math_avx2.cpp.
template <Isa I>
struct HalfConversion {
  static void widen(const Float16* x, float* y, int64_t n);
  static void narrow(const float* x, Float16* y, int64_t n);
};

}  // namespace intarsia::cpu
