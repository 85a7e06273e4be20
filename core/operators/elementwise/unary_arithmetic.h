// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, rounding and predicates of one input. Round takes ties to even (the processor's
// default mode). The most negative integer is its own Abs and Neg. Sign(NaN) is NaN.
#pragma once

#include <cmath>
#include <limits>

#include "core/operators/common/integers.h"
#include "core/operators/elementwise/operator.h"

namespace intarsia {

struct NegOp : Elementwise<> {
  static constexpr std::string_view name = "Neg";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    if constexpr (std::is_floating_point_v<V>) {
      return -x;
    } else {
      return subtract_wrapped(V{0}, x);
    }
  }
};

struct AbsOp : Elementwise<> {
  static constexpr std::string_view name = "Abs";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    if constexpr (std::is_floating_point_v<V>) {
      return std::fabs(x);
    } else if constexpr (std::is_unsigned_v<V>) {
      return x;
    } else {
      return x < 0 ? subtract_wrapped(V{0}, x) : x;
    }
  }
};

struct SignOp : Elementwise<> {
  static constexpr std::string_view name = "Sign";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    const V sign = static_cast<V>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
    return x == x ? sign : x;
  }
};

struct ReciprocalOp : Elementwise<> {
  static constexpr std::string_view name = "Reciprocal";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return V{1} / x;
  }
};

struct SqrtOp : Elementwise<> {
  static constexpr std::string_view name = "Sqrt";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::sqrt(x);
  }
};

struct CeilOp : Elementwise<> {
  static constexpr std::string_view name = "Ceil";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::ceil(x);
  }
};

struct FloorOp : Elementwise<> {
  static constexpr std::string_view name = "Floor";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::floor(x);
  }
};

struct RoundOp : Elementwise<> {
  static constexpr std::string_view name = "Round";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::nearbyint(x);
  }
};

struct IsInfOp : Predicate<IsInfAttributes> {
  static constexpr std::string_view name = "IsInf";
  template <class V>
  INTARSIA_HOST_DEVICE static bool apply(V x, const IsInfAttributes& attributes) {
    constexpr V kInfinity = std::numeric_limits<V>::infinity();
    // What each sign has to equal: NaN equals nothing. Two conditions would be branches of the
    // loop.
    constexpr V kNothing = std::numeric_limits<V>::quiet_NaN();
    const V high = attributes.detect_positive != 0 ? kInfinity : kNothing;
    const V low = attributes.detect_negative != 0 ? -kInfinity : kNothing;
    return (x == high) != (x == low);
  }
};

struct IsNaNOp : Predicate<> {
  static constexpr std::string_view name = "IsNaN";
  template <class V>
  INTARSIA_HOST_DEVICE static bool apply(V x, const NoAttributes&) {
    return x != x;
  }
};

struct NotOp : Predicate<> {
  static constexpr std::string_view name = "Not";
  INTARSIA_HOST_DEVICE static bool apply(bool x, const NoAttributes&) { return !x; }
};

struct BitwiseNotOp : Elementwise<> {
  static constexpr std::string_view name = "BitwiseNot";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return static_cast<V>(~x);
  }
};

}  // namespace intarsia
