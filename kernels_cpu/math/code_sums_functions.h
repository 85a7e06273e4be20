// SPDX-License-Identifier: Apache-2.0
//
// The member of CodeSums<I>, for the file of instruction set I that instantiates it.
#pragma once

#include <cstring>

#include "kernels_cpu/math/code_sums.h"
#include "kernels_cpu/math/joined_codes.h"

namespace intarsia::cpu {

#if defined(__AVX512BW__)

template <bool kSigned>
struct CodeLanes {
  using Integers = __m512i;
  static constexpr int kLanes = 16;
  static constexpr __mmask16 kAll = 0xffff;
  __m512 factor, addend, other;

  explicit CodeLanes(const CodeSum& sum)
      : factor(_mm512_set1_ps(sum.factor)),
        addend(_mm512_set1_ps(sum.addend)),
        other(_mm512_set1_ps(sum.other)) {}

  INTARSIA_INLINE static __m512 numbers(const uint8_t* codes) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    return _mm512_maskz_cvtepi32_ps(kAll, kSigned ? _mm512_maskz_cvtepi8_epi32(kAll, some)
                                                  : _mm512_maskz_cvtepu8_epi32(kAll, some));
  }
  INTARSIA_INLINE Integers sum(const uint8_t* x, const uint8_t* y) const {
    const __m512 first = _mm512_fmadd_ps(numbers(x), factor, addend);
    return _mm512_maskz_cvtps_epi32(kAll, _mm512_fmadd_ps(numbers(y), other, first));
  }
  INTARSIA_INLINE static void store(uint8_t* z, Integers codes) { _mm512_storeu_si512(z, codes); }
};

#elif defined(__AVX2__)

template <bool kSigned>
struct CodeLanes {
  using Integers = __m256i;
  static constexpr int kLanes = 8;
  __m256 factor, addend, other;

  explicit CodeLanes(const CodeSum& sum)
      : factor(_mm256_set1_ps(sum.factor)),
        addend(_mm256_set1_ps(sum.addend)),
        other(_mm256_set1_ps(sum.other)) {}

  INTARSIA_INLINE static __m256 numbers(const uint8_t* codes) {
    const __m128i some = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes));
    return _mm256_cvtepi32_ps(kSigned ? _mm256_cvtepi8_epi32(some) : _mm256_cvtepu8_epi32(some));
  }
  INTARSIA_INLINE Integers sum(const uint8_t* x, const uint8_t* y) const {
    const __m256 first = _mm256_fmadd_ps(numbers(x), factor, addend);
    return _mm256_cvtps_epi32(_mm256_fmadd_ps(numbers(y), other, first));
  }
  INTARSIA_INLINE static void store(uint8_t* z, Integers codes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(z), codes);
  }
};

#endif

template <Isa I, bool kSigned>
void add_codes(const uint8_t* x, const uint8_t* y, uint8_t* z, int64_t n, const CodeSum& sum) {
  using Lanes = CodeLanes<kSigned>;
  constexpr int kLanes = Lanes::kLanes, kCodes = 4 * kLanes;
  const Lanes by(sum);
  const auto add = [&](const uint8_t* a, const uint8_t* b, uint8_t* to)
      __attribute__((always_inline)) {
    const auto part = [&](int i) __attribute__((always_inline)) {
      return by.sum(a + i * kLanes, b + i * kLanes);
    };
    Lanes::store(to, JoinedCodes<I>::template join<kSigned>(part(0), part(1), part(2), part(3),
                                                            typename Lanes::Integers{}));
  };
  int64_t i = 0;
  for (; i + kCodes <= n; i += kCodes) add(x + i, y + i, z + i);
  if (i == n) return;
  uint8_t a[kCodes] = {}, b[kCodes] = {};
  const auto rest = static_cast<size_t>(n - i);
  std::memcpy(a, x + i, rest);
  std::memcpy(b, y + i, rest);
  add(a, b, a);
  std::memcpy(z + i, a, rest);
}

template <Isa I>
void CodeSums<I>::add(const uint8_t* x, const uint8_t* y, uint8_t* z, int64_t n,
                      const CodeSum& sum) {
  if (sum.is_signed) {
    add_codes<I, true>(x, y, z, n, sum);
  } else {
    add_codes<I, false>(x, y, z, n, sum);
  }
}

}  // namespace intarsia::cpu
