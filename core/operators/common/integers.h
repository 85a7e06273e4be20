// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of elements that is defined for every integer: sums and products wrap around (two's
// complement), conversions of real numbers saturate. For floating-point types the plain operators.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/operators/common/host_device.h"

namespace intarsia {

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
INTARSIA_HOST_DEVICE constexpr V add_wrapped(V a, V b) {
  return static_cast<V>(static_cast<Wide<V>>(a) + static_cast<Wide<V>>(b));
}
template <class V>
INTARSIA_HOST_DEVICE constexpr V subtract_wrapped(V a, V b) {
  return static_cast<V>(static_cast<Wide<V>>(a) - static_cast<Wide<V>>(b));
}
template <class V>
INTARSIA_HOST_DEVICE constexpr V multiply_wrapped(V a, V b) {
  return static_cast<V>(static_cast<Wide<V>>(a) * static_cast<Wide<V>>(b));
}

/// x truncated towards zero; the nearest limit of Integer beyond its range, 0 for NaN.
template <class Integer, class Real>
INTARSIA_HOST_DEVICE constexpr Integer saturate_cast(Real x) {
  using Limits = std::numeric_limits<Integer>;
  constexpr Real kLowest = static_cast<Real>(Limits::min());
  // 2^digits, one above the largest value; exact in every floating-point type.
  constexpr Real kBeyond = static_cast<Real>(uint64_t{1} << (Limits::digits - 1)) * 2;
  if constexpr (std::numeric_limits<Real>::digits >= Limits::digits) {
    // Without branches, for vector code.
    constexpr Real kLargest = kBeyond - 1;
    const Real number = x == x ? x : Real{0};
    const Real above = number > kLowest ? number : kLowest;
    return static_cast<Integer>(above < kLargest ? above : kLargest);
  }
  if (x >= kBeyond) return Limits::max();
  if (x > kLowest) return static_cast<Integer>(x);
  return x <= kLowest ? Limits::min() : Integer{0};
}

}  // namespace intarsia
