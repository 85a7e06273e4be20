// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of two inputs, and of any number of them, folded from the left. Integers wrap around;
// integer division truncates towards zero, and the most negative integer divided by -1 is itself.
// Min and Max propagate NaN.
#pragma once

#include <cmath>

#include "core/operators/common/integers.h"
#include "core/operators/elementwise/operator.h"
#include "core/runtime/operand_check.h"

namespace intarsia {

struct AddOp : Elementwise<> {
  static constexpr std::string_view name = "Add";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return add_wrapped(x, y);
  }
};

struct SubOp : Elementwise<> {
  static constexpr std::string_view name = "Sub";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return subtract_wrapped(x, y);
  }
};

struct MulOp : Elementwise<> {
  static constexpr std::string_view name = "Mul";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return multiply_wrapped(x, y);
  }
};

struct DivOp : Elementwise<> {
  static constexpr std::string_view name = "Div";
  static constexpr bool divides = true;
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    if constexpr (std::is_signed_v<V> && std::is_integral_v<V>) {
      if (y == -1) return subtract_wrapped(V{0}, x);
    }
    return static_cast<V>(x / y);
  }
};

/// x - q y with the quotient rounded down (fmod = 0: the result has the sign of y) or towards zero
/// (fmod = 1: the sign of x). A floating-point divisor of zero gives NaN.
struct ModOp : Elementwise<ModAttributes> {
  static constexpr std::string_view name = "Mod";
  static constexpr bool divides = true;
  static Status check(const KernelContext& context) {
    const int32_t fmod = context.attributes<ModAttributes>().fmod;
    if (fmod == 0 || fmod == 1) return {};
    return context.fail(Code::kInvalidValue, "attribute fmod", 1, fmod);
  }
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const ModAttributes& attributes) {
    const bool truncate = attributes.fmod != 0;
    if constexpr (std::is_floating_point_v<V>) {
      const V rest = std::fmod(x, y);
      if (truncate) return rest;
      if (rest == 0) return std::copysign(V{0}, y);
      return (rest < 0) != (y < 0) ? rest + y : rest;
    } else if constexpr (std::is_signed_v<V>) {
      if (y == -1) return 0;
      const V rest = static_cast<V>(x % y);
      return !truncate && rest != 0 && (rest < 0) != (y < 0) ? static_cast<V>(rest + y) : rest;
    } else {
      return static_cast<V>(x % y);
    }
  }
};

struct PReluOp : Elementwise<> {
  static constexpr std::string_view name = "PRelu";
  /// The slope is broadcast to the input, never the input to the slope.
  static Status check(const KernelContext& context) {
    return check_extents<ops::SameShape>(context);
  }
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V slope, const NoAttributes&) {
    if constexpr (std::is_unsigned_v<V>) {
      return x;
    } else {
      return x < 0 ? multiply_wrapped(x, slope) : x;
    }
  }
};

/// In the type of the base. Floating-point bases use std::pow, in double where the exponent has
/// more digits than float. Integer bases multiply for integer exponents, which must not be
/// negative, and go through double for other exponents.
struct PowOp : Elementwise<> {
  static constexpr std::string_view name = "Pow";
  template <class V, class E>
  INTARSIA_HOST_DEVICE static V apply(V x, E y, const NoAttributes&) {
    if constexpr (std::is_floating_point_v<V>) {
      constexpr bool kDouble = std::is_same_v<V, double> || std::is_same_v<E, double> ||
                               (std::is_integral_v<E> && sizeof(E) >= 4);
      using C = std::conditional_t<kDouble, double, float>;
      // The commonest exponent; std::pow gives the same.
      if (y == E{2}) return x * x;
      return static_cast<V>(std::pow(static_cast<C>(x), static_cast<C>(y)));
    } else if constexpr (std::is_integral_v<E>) {
      V result = 1;
      for (V factor = x; y != 0;
           y = static_cast<E>(y / 2), factor = multiply_wrapped(factor, factor)) {
        if (y % 2 != 0) result = multiply_wrapped(result, factor);
      }
      return result;
    } else {
      return saturate_cast<V>(std::pow(static_cast<double>(x), static_cast<double>(y)));
    }
  }
};

/// Of any number of inputs: `apply` adds one to the result so far, `finish` has them all.
struct Fold : Elementwise<> {
  template <class V>
  INTARSIA_HOST_DEVICE static V finish(V value, int) {
    return value;
  }
};

struct MaxOp : Fold {
  static constexpr std::string_view name = "Max";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return (x > y || x != x) ? x : y;
  }
};

struct MinOp : Fold {
  static constexpr std::string_view name = "Min";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return (x < y || x != x) ? x : y;
  }
};

struct SumOp : Fold {
  static constexpr std::string_view name = "Sum";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return x + y;
  }
};

struct MeanOp : SumOp {
  static constexpr std::string_view name = "Mean";
  template <class V>
  INTARSIA_HOST_DEVICE static V finish(V sum, int inputs) {
    return sum / static_cast<V>(inputs);
  }
};

}  // namespace intarsia
