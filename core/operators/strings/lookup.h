// SPDX-License-Identifier: Apache-2.0
//
// Look-ups in lists of keys: attributes and shape rule, and the hash table that the converter
// builds and kernels read, so that a look-up takes the same time in lists of any length.
//
// `slots` is a table of which a part is taken: the index of a key stands in the first slot, from
// the one that its hash names on and round the end, that no earlier key has; other slots hold -1.
// The hash is part of the plan format.
#pragma once

#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct LookupAttributes {
  /// A value that is none of the keys is an error.
  int32_t strict = 0;
  template <class V>
  void fields(V& v) {
    v("strict", strict, kFlag);
  }
};
static_assert(is_plan_struct<LookupAttributes>);

/// The upper half of the result depends on all of `bits`.
constexpr uint64_t spread_bits(uint64_t bits) {
  bits *= 0x9e3779b97f4a7c15u;
  return bits ^ bits >> 32;
}

/// The hash of a string: of its length and its words of 8 bytes. What is left at the end is read as
/// two words of 4 that overlap, or as its first, middle and last byte.
inline uint64_t key_hash(std::string_view text) {
  const auto word = [&text]<class W>(size_t at, W) -> uint64_t {
    W bytes;
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
    return bytes;
  };
  uint64_t hash = text.size();
  for (; text.size() > 8; text.remove_prefix(8)) hash = spread_bits(hash ^ word(0, uint64_t{}));
  const size_t left = text.size();
  if (left >= 4) {
    hash ^= word(0, uint32_t{}) | word(left - 4, uint32_t{}) << 32;
  } else if (left > 0) {
    hash ^= word(0, uint8_t{}) << 32 | word(left / 2, uint8_t{}) << 40 |
            word(left - 1, uint8_t{}) << 48;
  }
  return spread_bits(hash);
}

/// The hash of a number; 0 and -0 have the same, as have all NaNs.
template <class T>
requires std::is_arithmetic_v<T> uint64_t key_hash(T key) {
  if constexpr (std::is_floating_point_v<T>) {
    if (key != key) return spread_bits(1);
    return spread_bits(key == 0 ? 0 : std::bit_cast<uint64_t>(static_cast<double>(key)));
  } else {
    return spread_bits(static_cast<uint64_t>(static_cast<int64_t>(key)));
  }
}

/// What equal keys are: strings byte by byte, a NaN is equal to any other.
template <class T>
bool equal_keys(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a == b || (a != a && b != b);
  } else {
    return a == b;
  }
}

/// Visits the slots for `hash` in their order, each once at most, until `stop(slot)`. REQUIRES:
/// `count` is from 1 to 2^31.
template <class Stop>
void visit_slots(uint64_t hash, int64_t count, const Stop& stop) {
  auto slot = static_cast<int64_t>((hash >> 32) * static_cast<uint64_t>(count) >> 32);
  for (int64_t left = count; left > 0; --left) {
    if (stop(slot)) return;
    if (++slot == count) slot = 0;
  }
}

namespace ops {

/// For each element of X the index of the key that is equal to it, or the number of keys.
struct Lookup {
  using Attributes = LookupAttributes;
  static constexpr std::string_view name = "Lookup";
  template <class S>
  static Status infer(S& s) {
    for (int input = 1; input <= 2; ++input) {
      if (s.rank(input) == 1) continue;
      return s.fail(Code::kWrongRank, "rank of keys and slots", 1, s.rank(input), input);
    }
    using Dim = typename S::Dim;
    const Dim least(int64_t{1});
    if (Status t = s.require_at_least(least, s.dim(2, 0), "slots", 2, 0); !t) return t;
    return s.set_output(0, DataType::kInt32, s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
