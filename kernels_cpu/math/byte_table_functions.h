// SPDX-License-Identifier: Apache-2.0
//
// The member of ByteTable<I>, for the file of instruction set I that instantiates it. Vectors
// choose the 16 bytes that a high half of a code names one after the other, by an instruction that
// looks the low halves up; with AVX512_VBMI, one that looks up 128 bytes.
#pragma once

#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/byte_table.h"

namespace intarsia::cpu {

template <Isa I>
void ByteTable<I>::map(const uint8_t* x, uint8_t* y, int64_t n, const uint8_t* table) {
  int64_t i = 0;
#if defined(__AVX512BW__)
  for (; i + 64 <= n; i += 64) {
    const __m512i codes = _mm512_loadu_si512(x + i);
    const __m512i low = codes & _mm512_set1_epi8(0x0f);
    const __m512i high = codes & _mm512_set1_epi8(static_cast<char>(0xf0));
    __m512i mapped{};
#pragma GCC unroll 16
    for (int part = 0; part < 16; ++part) {
      const __m512i some = _mm512_maskz_broadcast_i32x4(
          0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * part)));
      const __mmask64 here =
          _mm512_cmpeq_epi8_mask(high, _mm512_set1_epi8(static_cast<char>(16 * part)));
      mapped = _mm512_mask_shuffle_epi8(mapped, here, some, low);
    }
    _mm512_storeu_si512(y + i, mapped);
  }
#elif defined(__AVX2__)
  for (; i + 32 <= n; i += 32) {
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    __m256i mapped{};
#pragma GCC unroll 16
    for (int part = 0; part < 16; ++part) {
      const __m256i some = _mm256_broadcastsi128_si256(
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * part)));
      // Codes of this part keep their low half below the sign bit; others get it, and look up 0.
      const __m256i from = _mm256_sub_epi8(codes, _mm256_set1_epi8(static_cast<char>(16 * part)));
      mapped |= _mm256_shuffle_epi8(some, _mm256_adds_epu8(from, _mm256_set1_epi8(0x70)));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), mapped);
  }
#endif
  for (; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace intarsia::cpu
