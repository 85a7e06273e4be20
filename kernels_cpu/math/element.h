// SPDX-License-Identifier: Apache-2.0
//
// How element-wise kernels read, compute and write elements of type T.
//
// `Stored` is what lies in memory, `Value` what is computed with: 16-bit floating-point types
// compute in float; a bool is stored as a byte, of which any value but 0 reads as true, since the
// bytes may come from outside the program. Integer arithmetic wraps around (two's complement).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "intarsia/types.h"

// Before a loop over elements: no iteration depends on another, although input and output may be
// the same memory.
#if defined(__clang__)
#define INTARSIA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INTARSIA_INDEPENDENT _Pragma("GCC ivdep")
#else
#define INTARSIA_INDEPENDENT
#endif

namespace intarsia::cpu {

template <class T>
struct Element {
  using Stored = T;
  using Value = T;
  static Value load(Stored stored) { return stored; }
  static Stored store(Value value) { return value; }
};
template <>
struct Element<bool> {
  using Stored = uint8_t;
  using Value = bool;
  static Value load(Stored stored) { return stored != 0; }
  static Stored store(Value value) { return value ? 1 : 0; }
};
template <>
struct Element<Float16> {
  using Stored = Float16;
  using Value = float;
  static Value load(Stored stored) { return static_cast<float>(stored); }
  static Stored store(Value value) { return Float16(value); }
};
template <>
struct Element<BFloat16> {
  using Stored = BFloat16;
  using Value = float;
  static Value load(Stored stored) { return static_cast<float>(stored); }
  static Stored store(Value value) { return BFloat16(value); }
};

namespace internal {
template <class V, bool Integer>
struct WideOf {
  using Type = V;
};
template <class V>
struct WideOf<V, true> {
  using Type = decltype(std::make_unsigned_t<V>{} + 0u);
};
}  // namespace internal

/// An unsigned type for integers V in which + - * wrap; V itself for other types.
template <class V>
using Wide = typename internal::WideOf<V, std::is_integral_v<V> && !std::is_same_v<V, bool>>::Type;

template <class V>
constexpr V add_wrapped(V a, V b) {
  return static_cast<V>(static_cast<Wide<V>>(a) + static_cast<Wide<V>>(b));
}
template <class V>
constexpr V multiply_wrapped(V a, V b) {
  return static_cast<V>(static_cast<Wide<V>>(a) * static_cast<Wide<V>>(b));
}

/// x truncated towards zero; the nearest limit of Integer beyond its range, 0 for NaN.
template <class Integer, class Real>
constexpr Integer saturate_cast(Real x) {
  using Limits = std::numeric_limits<Integer>;
  constexpr Real kLowest = static_cast<Real>(Limits::min());
  // 2^digits, one above the largest value; exact in every floating-point type.
  constexpr Real kBeyond = static_cast<Real>(uint64_t{1} << (Limits::digits - 1)) * 2;
  if (x >= kBeyond) return Limits::max();
  if (x > kLowest) return static_cast<Integer>(x);
  return x <= kLowest ? Limits::min() : Integer{0};
}

}  // namespace intarsia::cpu
