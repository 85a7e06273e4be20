// SPDX-License-Identifier: Apache-2.0
//
// VectorMath for AVX-512; compiled with the flags of that instruction set.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX512

#include "kernels_cpu/math/byte_table_functions.h"
#include "kernels_cpu/math/code_sums_functions.h"
#include "kernels_cpu/math/vector_math_functions.h"

namespace intarsia::cpu {
template struct VectorMath<Isa::kAvx512>;
template struct ByteTable<Isa::kAvx512>;
template struct CodeSums<Isa::kAvx512>;

template <>
[[gnu::target("avx512vbmi")]] void ByteTable<Isa::kAmx>::map(const uint8_t* x, uint8_t* y,
                                                             int64_t n, const uint8_t* table) {
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64);
  const __m512i c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
  for (int64_t i = 0; i < n; i += 64) {
    const __mmask64 here = n - i < 64 ? (__mmask64{1} << (n - i)) - 1 : ~__mmask64{0};
    const __m512i codes = _mm512_maskz_loadu_epi8(here, x + i);
    const __m512i lower = _mm512_permutex2var_epi8(a, codes, b);
    const __m512i upper = _mm512_permutex2var_epi8(c, codes, d);
    _mm512_mask_storeu_epi8(y + i, here,
                            _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), lower, upper));
  }
}
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX512
