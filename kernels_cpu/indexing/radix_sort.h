// SPDX-License-Identifier: Apache-2.0
//
// Sorting indices by numbers, byte for byte of keys from the last one on, without comparing any:
// each byte takes the same time for every element, and one that all keys share takes none.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace intarsia::cpu {

/// An unsigned number for each value, in the order of `less_nan_last`: NaN is one number, and so
/// are the two zeros.
template <class V>
auto sort_key(V v) {
  if constexpr (std::is_floating_point_v<V>) {
    using Key = std::conditional_t<sizeof(V) == 8, uint64_t, uint32_t>;
    constexpr Key kSign = Key{1} << (8 * sizeof(V) - 1);
    if (v != v) return ~Key{0};
    const auto bits = std::bit_cast<Key>(v + 0);  // -0 + 0 is 0
    return static_cast<Key>((bits & kSign) != 0 ? ~bits : bits | kSign);
  } else {
    using Key = std::conditional_t<sizeof(V) == 8, uint64_t, uint32_t>;
    // A negative number and a positive one change places.
    constexpr Key kSign = std::is_signed_v<V> ? Key{1} << (8 * sizeof(Key) - 1) : 0;
    return static_cast<Key>(static_cast<Key>(v) ^ kSign);
  }
}

/// list = the indices 0, 1, ... of `size` keys in ascending order; equal ones stay in theirs.
/// `scratch` has as much room. `key(i)`: the key of index i.
template <class Key>
void radix_sort(int32_t* list, int32_t* scratch, int64_t size, const Key& key) {
  if (size == 0) return;
  using Bits = decltype(key(0));
  const Bits one = key(0);
  Bits differing = 0;
  for (int64_t i = 0; i < size; ++i) {
    differing |= key(i) ^ one;
    list[i] = static_cast<int32_t>(i);
  }
  int32_t *from = list, *to = scratch;
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(Bits)); shift += 8) {
    if ((differing >> shift & 0xff) == 0) continue;
    const auto digit = [&](int64_t i) { return static_cast<uint8_t>(key(i) >> shift); };
    int32_t places[256] = {};
    for (int64_t i = 0; i < size; ++i) ++places[digit(i)];
    for (int32_t value = 0, next = 0; value < 256; ++value) {
      const int32_t count = places[value];
      places[value] = next;
      next += count;
    }
    for (int64_t i = 0; i < size; ++i) to[places[digit(from[i])]++] = from[i];
    int32_t* const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != list) std::memcpy(list, from, static_cast<size_t>(size) * sizeof(int32_t));
}

}  // namespace intarsia::cpu
