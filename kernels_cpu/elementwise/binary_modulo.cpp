// SPDX-License-Identifier: Apache-2.0
//
// Mod: x - q y with the quotient rounded down (fmod = 0: the result has the sign of y) or towards
// zero (fmod = 1: the sign of x). An integer divisor of zero is an error, a floating-point one
// gives NaN.
#include <cmath>

#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

template <class V>
V evaluate(ModOp, V x, V y, const ModAttributes& attributes) {
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

template <class T>
requires std::is_integral_v<T> Status check_values(ModOp, const T* divisors, int64_t count,
                                                   const ModAttributes&,
                                                   const KernelContext& context) {
  for (int64_t i = 0; i < count; ++i) {
    if (divisors[i] == 0) return context.fail(Code::kDivisionByZero, "integer divisor", 0, i, 1);
  }
  return {};
}

template <class T>
Status check_operator(ModOp, T, const ModAttributes& attributes, const KernelContext& context) {
  if (attributes.fmod == 0 || attributes.fmod == 1) return {};
  return context.fail(Code::kInvalidValue, "attribute fmod", 1, attributes.fmod);
}

INTARSIA_INSTANTIATE_FLOATS(Binary, ModOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, ModOp);

}  // namespace intarsia::cpu
