// SPDX-License-Identifier: Apache-2.0
//
// One number converted to another element type (ONNX, Cast).
//
// Values that float cannot hold reach the types of 16 bits and less through a float that is rounded
// to odd (`to_float`), so that the second rounding sees on which side of a tie the value lies.
// S. Boldo and G. Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using
// Rounding to Odd", IEEE Transactions on Computers 57(4), 2008.
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const bool keep = back == value || value != value || (bits & 1u) != 0;
  const bool too_large = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  const uint32_t odd = too_large ? bits - 1 : bits + 1;
  return std::bit_cast<float>(keep ? bits : odd);
}

template <std::integral V>
float round_to_odd(V value) {
  const bool negative = value < 0;
  const uint64_t wide = static_cast<uint64_t>(value);
  const uint64_t magnitude = negative ? 0 - wide : wide;
  const int surplus = std::bit_width(magnitude) - 24;
  if (surplus <= 0) return static_cast<float>(value);
  const uint64_t lost = magnitude & ((uint64_t{1} << surplus) - 1);
  const uint64_t kept = (magnitude >> surplus) | (lost != 0 ? 1 : 0);
  const float rounded = static_cast<float>(kept << surplus);  // 24 bits: exact
  return negative ? -rounded : rounded;
}

/// `value` as a float from which rounding to fewer than 22 bits gives what it would give of
/// `value`.
template <class V>
float to_float(V value) {
  constexpr bool kFits = std::is_same_v<V, float> || sizeof(V) <= 2;
  if constexpr (std::is_same_v<V, bool>) {
    return value ? 1.0f : 0.0f;
  } else if constexpr (kFits) {
    return static_cast<float>(value);
  } else if constexpr (sizeof(V) <= 4) {
    return round_to_odd(static_cast<double>(value));  // exact, and vector code
  } else {
    return round_to_odd(value);
  }
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// An element of type Out in memory; V: the value type of an `Element`.
template <class Out, class V>
typename Element<Out>::Stored convert(V value) {
  using E = Element<Out>;
  if constexpr (std::is_same_v<Out, bool>) {
    return E::store(value != 0);
  } else if constexpr (is_half<Out>) {
    return E::store(to_float(value));
  } else if constexpr (std::is_integral_v<Out> && std::is_floating_point_v<V>) {
    return saturate_cast<Out>(value);
  } else if constexpr (std::is_same_v<V, bool>) {
    return static_cast<Out>(value ? 1 : 0);
  } else {
    return static_cast<Out>(value);
  }
}

}  // namespace intarsia::cpu
