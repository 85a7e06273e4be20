// SPDX-License-Identifier: Apache-2.0
//
// Integers of 32 bits as codes of 8, saturated, by the instructions of x86 that join two vectors.
//
// Included by sources of one instruction set only.
#pragma once

#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

template <Isa I>
struct JoinedCodes;

#if defined(__AVX512BW__)

template <>
struct JoinedCodes<Isa::kAvx512> {
  /// Those of four vectors, one behind the other. `zero`, of 16 bits, is added to all.
  template <bool kSigned>
  INTARSIA_INLINE static __m512i join(__m512i a, __m512i b, __m512i c, __m512i d, __m512i zero) {
    const __m512i lower = _mm512_adds_epi16(_mm512_packs_epi32(a, b), zero);
    const __m512i upper = _mm512_adds_epi16(_mm512_packs_epi32(c, d), zero);
    const __m512i mixed =
        kSigned ? _mm512_packs_epi16(lower, upper) : _mm512_packus_epi16(lower, upper);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_maskz_permutexvar_epi32(0xffff, order, mixed);
  }
};

#elif defined(__AVX2__)

template <>
struct JoinedCodes<Isa::kAvx2> {
  template <bool kSigned>
  INTARSIA_INLINE static __m256i join(__m256i a, __m256i b, __m256i c, __m256i d, __m256i zero) {
    const __m256i lower = _mm256_adds_epi16(_mm256_packs_epi32(a, b), zero);
    const __m256i upper = _mm256_adds_epi16(_mm256_packs_epi32(c, d), zero);
    return _mm256_permutevar8x32_epi32(
        kSigned ? _mm256_packs_epi16(lower, upper) : _mm256_packus_epi16(lower, upper),
        _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
};

#endif

}  // namespace intarsia::cpu
