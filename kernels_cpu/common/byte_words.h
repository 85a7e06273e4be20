// SPDX-License-Identifier: Apache-2.0
//
// Four neighbouring bytes as a word: vectors of words work on bytes without moving any from lane to
// lane, which takes AVX2 many steps. Which byte of a word comes first does not matter to those who
// treat all four alike.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// A word that may lie anywhere, among elements of any type.
typedef uint32_t ByteWord __attribute__((aligned(1), may_alias));  // NOLINT(modernize-use-using)

/// Of neighbouring bytes, where they are read.
template <class T>
const ByteWord* words_of(const T* bytes) {
  static_assert(sizeof(T) == 1);
  return reinterpret_cast<const ByteWord*>(bytes);
}

/// The sum of n bytes, modulo 2^32. Signed ones are taken as unsigned ones, which are 128 more.
template <class T>
INTARSIA_INLINE uint32_t sum_of_bytes(const T* bytes, int64_t n) {
  constexpr uint32_t kMore = std::is_signed_v<T> ? 128 : 0, kFlip = kMore * 0x01010101;
  constexpr uint32_t kHalves = 0x00ff00ff;
  constexpr int64_t kMost = 256;  // so many bytes fill half a word
  uint32_t sum = 0;
  int64_t i = 0;
  for (int64_t words = n / 4; words > 0; words -= kMost, i += 4 * kMost) {
    const ByteWord* from = words_of(bytes + i);
    const int64_t count = words < kMost ? words : kMost;
    uint32_t even = 0, odd = 0;
    for (int64_t k = 0; k < count; ++k) {
      const uint32_t word = from[k] ^ kFlip;
      even += word & kHalves;
      odd += word >> 8 & kHalves;
    }
    sum += (even & 0xffff) + (even >> 16) + (odd & 0xffff) + (odd >> 16);
  }
  for (i = n / 4 * 4; i < n; ++i) sum += static_cast<uint8_t>(bytes[i]) ^ kMore;
  return sum - kMore * static_cast<uint32_t>(n);
}

}  // namespace intarsia::cpu
