// SPDX-License-Identifier: Apache-2.0
//
// The codes of byte_codes.h by the instructions of x86 that round and saturate: numbers become
// integers of 32, 16 and 8 bits, and the zero point is added to those of 16. What is too large for
// 32 bits would become the lowest one, so that numbers are bounded above before.
//
// Included by typed_<isa>.cpp only.
#pragma once

#include "kernels_cpu/gemm/byte_codes.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/typed_tile.h"
#include "kernels_cpu/math/joined_codes.h"

namespace intarsia::cpu {

/// Above every integer of 16 bits.
inline constexpr float kLargeCode = 0x1p17f;

template <Isa I>
struct CodeRows;

#if defined(__AVX512BW__)

template <>
struct CodeRows<Isa::kAvx512> : JoinedCodes<Isa::kAvx512> {
  /// Some compilers take what intrinsics without a mask are made of for uninitialised.
  static constexpr __mmask16 kAllLanes = 0xffff;
  static constexpr __mmask8 kHalf = 0xff;

  struct Factors {
    __m512 scale;
    __m512i bias;
    Factors(const ByteCodes& codes, ptrdiff_t column)
        : scale(_mm512_loadu_ps(codes.scale + column)),
          bias(_mm512_loadu_si512(codes.bias + column)) {}
  };
  INTARSIA_INLINE static __m512i integers(const uint32_t* sums, const Factors& by) {
    const __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(sums), by.bias);
    const __m512 number = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAllLanes, sum), by.scale);
    return _mm512_maskz_cvtps_epi32(
        kAllLanes, _mm512_maskz_min_ps(kAllLanes, _mm512_set1_ps(kLargeCode), number));
  }
  /// Four rows of a panel at a time.
  template <bool kSigned>
  static void store_one(const ByteSums& sums, const ByteCodes& codes, ptrdiff_t panel) {
    const ptrdiff_t column = (sums.panel + panel) * kPanel;
    const Factors by(codes, column);
    const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(codes.zero));
    const auto some = static_cast<__mmask16>(bits_below(codes.columns - column));
    const uint32_t* from = sums.sums + panel * kPanel;
    uint8_t* to = codes.y + sums.row * codes.y_pitch + column;
    for (ptrdiff_t row = 0; row < sums.rows; row += 4) {
      const ptrdiff_t last = sums.rows - 1;
      const ptrdiff_t rows[4] = {row, min(row + 1, last), min(row + 2, last), min(row + 3, last)};
      const auto of = [&](int i) __attribute__((always_inline)) {
        return integers(from + rows[i] * sums.pitch, by);
      };
      const __m512i all = join<kSigned>(of(0), of(1), of(2), of(3), zero);
      const auto put = [&](int i, __m128i row_codes) __attribute__((always_inline)) {
        _mm_mask_storeu_epi8(to + rows[i] * codes.y_pitch, some, row_codes);
      };
      put(0, _mm512_maskz_extracti32x4_epi32(kHalf, all, 0));
      put(1, _mm512_maskz_extracti32x4_epi32(kHalf, all, 1));
      put(2, _mm512_maskz_extracti32x4_epi32(kHalf, all, 2));
      put(3, _mm512_maskz_extracti32x4_epi32(kHalf, all, 3));
    }
  }
  /// Two rows of two panels at a time.
  template <bool kSigned>
  static void store_two(const ByteSums& sums, const ByteCodes& codes, ptrdiff_t panel) {
    const ptrdiff_t column = (sums.panel + panel) * kPanel;
    const Factors by(codes, column), right(codes, column + kPanel);
    const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(codes.zero));
    const auto some = static_cast<__mmask32>(bits_below(codes.columns - column));
    const uint32_t* from = sums.sums + panel * kPanel;
    uint8_t* to = codes.y + sums.row * codes.y_pitch + column;
    for (ptrdiff_t row = 0; row < sums.rows; row += 2) {
      const ptrdiff_t rows[2] = {row, min(row + 1, sums.rows - 1)};
      const uint32_t* upper = from + rows[0] * sums.pitch;
      const uint32_t* lower = from + rows[1] * sums.pitch;
      const __m512i all = join<kSigned>(integers(upper, by), integers(upper + kPanel, right),
                                        integers(lower, by), integers(lower + kPanel, right), zero);
      _mm256_mask_storeu_epi8(to + rows[0] * codes.y_pitch, some,
                              _mm512_maskz_extracti64x4_epi64(kHalf, all, 0));
      _mm256_mask_storeu_epi8(to + rows[1] * codes.y_pitch, some,
                              _mm512_maskz_extracti64x4_epi64(kHalf, all, 1));
    }
  }
  template <bool kSigned>
  static void store(const ByteSums& sums, const ByteCodes& codes) {
    ptrdiff_t panel = 0;
    for (; panel + 2 <= sums.panels; panel += 2) store_two<kSigned>(sums, codes, panel);
    if (panel < sums.panels) store_one<kSigned>(sums, codes, panel);
  }
};

#elif defined(__AVX2__)

template <>
struct CodeRows<Isa::kAvx2> : JoinedCodes<Isa::kAvx2> {
  struct Factors {
    __m256 scale;
    __m256i bias;
    Factors(const ByteCodes& codes, ptrdiff_t column)
        : scale(_mm256_loadu_ps(codes.scale + column)),
          bias(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes.bias + column))) {}
  };
  INTARSIA_INLINE static __m256i integers(const uint32_t* sums, const Factors& by) {
    const __m256i sum =
        _mm256_add_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums)), by.bias);
    const __m256 number = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), by.scale);
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(kLargeCode), number));
  }
  INTARSIA_INLINE static void put(uint8_t* to, ptrdiff_t count, __m128i codes) {
    if (count >= kPanel) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), codes);
    } else {
      std::memcpy(to, &codes, static_cast<size_t>(count));
    }
  }
  /// Two rows of a panel at a time.
  template <bool kSigned>
  static void store(const ByteSums& sums, const ByteCodes& codes) {
    const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(codes.zero));
    for (ptrdiff_t panel = 0; panel < sums.panels; ++panel) {
      const ptrdiff_t column = (sums.panel + panel) * kPanel, count = codes.columns - column;
      const Factors by(codes, column), right(codes, column + kPanel / 2);
      const uint32_t* from = sums.sums + panel * kPanel;
      uint8_t* to = codes.y + sums.row * codes.y_pitch + column;
      const auto half = [&](ptrdiff_t row, bool is_right) __attribute__((always_inline)) {
        const uint32_t* at = from + row * sums.pitch;
        return is_right ? integers(at + kPanel / 2, right) : integers(at, by);
      };
      for (ptrdiff_t row = 0; row < sums.rows; row += 2) {
        const ptrdiff_t next = min(row + 1, sums.rows - 1);
        const __m256i all = join<kSigned>(half(row, false), half(row, true), half(next, false),
                                          half(next, true), zero);
        put(to + row * codes.y_pitch, count, _mm256_castsi256_si128(all));
        put(to + next * codes.y_pitch, count, _mm256_extracti128_si256(all, 1));
      }
    }
  }
};

#endif

template <Isa I>
void CodeTiles<I>::store(const ByteSums& sums, const ByteCodes& codes) {
  if (codes.is_signed) {
    CodeRows<I>::template store<true>(sums, codes);
  } else {
    CodeRows<I>::template store<false>(sums, codes);
  }
}

}  // namespace intarsia::cpu
