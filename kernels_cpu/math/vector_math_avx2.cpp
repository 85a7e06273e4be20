// SPDX-License-Identifier: Apache-2.0
//
// VectorMath for AVX2 and FMA, and the conversions of F16C; compiled with the flags of that
// instruction set.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include "kernels_cpu/math/half_conversion.h"
#include "kernels_cpu/math/vector_math_functions.h"

namespace intarsia::cpu {

template <Isa I>
void HalfConversion<I>::widen(const Float16* x, float* y, int64_t n) {
  constexpr int kWidth = 8;
  for (int64_t i = 0; i < n; i += kWidth) {
    const int64_t rest = n - i;
    __m128i halves;
    if (rest >= kWidth) {
      halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
      _mm256_storeu_ps(y + i, _mm256_cvtph_ps(halves));
    } else {
      float part[kWidth];
      halves = _mm_setzero_si128();
      std::memcpy(&halves, x + i, static_cast<size_t>(rest) * sizeof(Float16));
      _mm256_storeu_ps(part, _mm256_cvtph_ps(halves));
      for (int64_t k = 0; k < rest; ++k) y[i + k] = part[k];
    }
  }
}
template <Isa I>
void HalfConversion<I>::narrow(const float* x, Float16* y, int64_t n) {
  constexpr int kWidth = 8;
  for (int64_t i = 0; i < n; i += kWidth) {
    const int64_t rest = n - i;
    float part[kWidth] = {};
    for (int64_t k = 0; rest < kWidth && k < rest; ++k) part[k] = x[i + k];
    const __m256 floats = _mm256_loadu_ps(rest < kWidth ? part : x + i);
    const __m128i halves = _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT);
    if (rest >= kWidth) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), halves);
    } else {
      std::memcpy(static_cast<void*>(y + i), &halves, static_cast<size_t>(rest) * sizeof(Float16));
    }
  }
}

template struct VectorMath<Isa::kAvx2>;
template struct VectorMathDouble<Isa::kAvx2>;
template struct HalfConversion<Isa::kAvx2>;
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
