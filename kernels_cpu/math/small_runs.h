// SPDX-License-Identifier: Apache-2.0
//
// Runs of elements of small types as numbers, and of numbers as elements: codes that share bytes
// are taken apart and put together by vectors.
#pragma once

#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/math/small_element.h"

namespace intarsia::cpu {

/// The codes that `count` bytes hold, of kBits bits each, as bytes.
template <int kBits>
INTARSIA_INLINE void unpack_codes(const uint8_t* from, int64_t count, uint8_t* codes) {
  constexpr int kEach = 8 / kBits;
  constexpr uint8_t kMask = (1u << kBits) - 1;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    INTARSIA_UNROLL
    for (int j = 0; j < kEach; ++j) {
      codes[kEach * i + j] = static_cast<uint8_t>(from[i] >> (kBits * j)) & kMask;
    }
  }
}

/// What integers of a type's codes are.
template <DataType type, class W>
INTARSIA_INLINE void decode_codes(const uint8_t* codes, int64_t count, W* to) {
  constexpr bool kSigned = type == DataType::kInt4 || type == DataType::kInt2;
  constexpr int kSign = kSigned ? 1 << (element_bits(type) - 1) : 0;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (is_small_float<type>) {
      to[i] = static_cast<W>(kDecoded<type>[codes[i]]);
    } else {
      to[i] = static_cast<W>((codes[i] ^ kSign) - kSign);
    }
  }
}

/// to[i] = element `index + i` of a tensor of type T, for i in [0, count).
template <class T, class W>
INTARSIA_INLINE void load_elements(const std::byte* elements, int64_t index, int64_t count, W* to) {
  int64_t i = 0;
  if constexpr (is_small<T>) {
    constexpr DataType kType = small_type<T>;
    constexpr int kBits = element_bits(kType);
    if constexpr (kBits == 2 || kBits == 4) {
      constexpr int64_t kEach = 8 / kBits, kCodes = 256;
      for (; i < count && (index + i) % kEach != 0; ++i) {
        to[i] = static_cast<W>(load_at<T>(elements, index + i));
      }
      uint8_t codes[kCodes];
      for (int64_t some; count - i >= kEach; i += some) {
        some = (count - i < kCodes ? count - i : kCodes) / kEach * kEach;
        const auto* from = reinterpret_cast<const uint8_t*>(elements) + (index + i) / kEach;
        unpack_codes<kBits>(from, some / kEach, codes);
        decode_codes<kType>(codes, some, to + i);
      }
    }
  }
  for (; i < count; ++i) to[i] = static_cast<W>(load_at<T>(elements, index + i));
}

/// Bytes of `count` codes of kBits bits each, the first in the lowest bits; bits behind the last
/// are 0.
template <int kBits>
INTARSIA_INLINE void pack_codes(const uint8_t* codes, int64_t count, uint8_t* to) {
  constexpr int kCodes = kBits == 6 ? 4 : 8 / kBits, kBytes = kCodes * kBits / 8;
  const int64_t groups = count / kCodes, rest = count - groups * kCodes;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < groups; ++i) {
    uint32_t word = 0;
    INTARSIA_UNROLL
    for (int j = 0; j < kCodes; ++j) word |= uint32_t{codes[kCodes * i + j]} << (kBits * j);
    INTARSIA_UNROLL
    for (int j = 0; j < kBytes; ++j) to[kBytes * i + j] = static_cast<uint8_t>(word >> (8 * j));
  }
  uint32_t last = 0;
  for (int64_t j = 0; j < rest; ++j) last |= uint32_t{codes[kCodes * groups + j]} << (kBits * j);
  for (int64_t bits = 0; bits < rest * kBits; bits += 8) {
    to[kBytes * groups + bits / 8] = static_cast<uint8_t>(last >> bits);
  }
}

/// Writes the elements [begin, end), `code(i)` each, in order. Bits behind the last one become 0.
/// REQUIRES: begin is a multiple of 8, so that no byte before it changes.
template <DataType type, class Code>
void store_codes(std::byte* elements, int64_t begin, int64_t end, const Code& code) {
  constexpr int kBits = element_bits(type);
  constexpr int64_t kCodes = 256;
  uint8_t codes[kCodes];
  for (int64_t first = begin; first < end; first += kCodes) {
    const int64_t some = end - first < kCodes ? end - first : kCodes;
    for (int64_t i = 0; i < some; ++i) codes[i] = code(first + i);
    pack_codes<kBits>(codes, some, reinterpret_cast<uint8_t*>(elements + first * kBits / 8));
  }
}

/// Writes `values` as elements [index, index + count) of a tensor of a small type. Bits behind the
/// last one become 0. REQUIRES: index is a multiple of 8, so that no byte before it changes.
template <DataType type, class V>
INTARSIA_INLINE void store_elements(const V* values, int64_t index, int64_t count,
                                    Encoding encoding, std::byte* elements) {
  constexpr int kBits = element_bits(type);
  constexpr int64_t kCodes = 256;
  auto* to = reinterpret_cast<uint8_t*>(elements) + index * kBits / 8;
  uint8_t room[kCodes];
  for (int64_t some; count > 0; count -= some, values += some, to += some * kBits / 8) {
    some = count < kCodes ? count : kCodes;
    uint8_t* codes = kBits == 8 ? to : room;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < some; ++i) codes[i] = encode<type>(values[i], encoding);
    if constexpr (kBits < 8) pack_codes<kBits>(codes, some, to);
  }
}

}  // namespace intarsia::cpu
