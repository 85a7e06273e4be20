// SPDX-License-Identifier: Apache-2.0
//
// VectorMath for AVX2 and FMA, and the conversions of F16C; compiled with the flags of that
// instruction set.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include "kernels_cpu/math/byte_table_functions.h"
#include "kernels_cpu/math/code_sums_functions.h"
#include "kernels_cpu/math/half_conversion.h"
#include "kernels_cpu/math/vector_math_functions.h"

namespace intarsia::cpu {

namespace {

INTARSIA_INLINE void widen_eight(const Float16* x, float* y) {
  _mm256_storeu_ps(y, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))));
}
INTARSIA_INLINE void narrow_eight(const float* x, Float16* y) {
  const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), halves);
}

/// convert(x, y) for all groups of eight; a group that is not whole passes through memory on the
/// stack.
template <class From, class To, class Convert>
INTARSIA_INLINE void by_eights(const From* x, To* y, int64_t n, Convert convert) {
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + 8 <= n; i += 8) convert(x + i, y + i);
  if (i == n) return;
  From from[8] = {};
  To to[8];
  for (int64_t k = i; k < n; ++k) from[k - i] = x[k];
  convert(from, to);
  for (int64_t k = i; k < n; ++k) y[k] = to[k - i];
}

}  // namespace

template <Isa I>
void HalfConversion<I>::widen(const Float16* x, float* y, int64_t n) {
  by_eights(x, y, n, [](const Float16* from, float* to) { widen_eight(from, to); });
}
template <Isa I>
void HalfConversion<I>::narrow(const float* x, Float16* y, int64_t n) {
  by_eights(x, y, n, [](const float* from, Float16* to) { narrow_eight(from, to); });
}

template struct VectorMath<Isa::kAvx2>;
template struct ByteTable<Isa::kAvx2>;
template struct CodeSums<Isa::kAvx2>;
template struct HalfConversion<Isa::kAvx2>;
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
