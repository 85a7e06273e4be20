// SPDX-License-Identifier: Apache-2.0
//
// Pow: z = x^y with broadcasting, in the type of the base. Floating-point bases use std::pow, in
// double where the exponent has more digits than float. Integer bases multiply (and wrap around)
// for integer exponents, which must not be negative, and go through double for other exponents.
#include <cmath>

#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {
namespace {

template <class V, class E>
V power(V x, E y) {
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

}  // namespace

template <class T, class U>
Status Pow<T, U>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  return check_broadcast(context,
                         {.inputs = {t, kernel_type_of<U>}, .required_inputs = 2, .outputs = {t}});
}

template <class T, class U>
Status Pow<T, U>::run(const KernelContext& context) {
  using Base = Element<T>;
  using Exponent = Element<U>;
  if constexpr (std::is_integral_v<T> && std::is_integral_v<U> && std::is_signed_v<U>) {
    const U* exponents = context.input(1).as<U>();
    for (int64_t i = 0, count = context.input(1).count(); i < count; ++i) {
      if (exponents[i] < 0) {
        return context.fail(Code::kInvalidValue, "exponent of an integer base", 0, exponents[i], 1);
      }
    }
  }
  compute_broadcast<Base, Exponent, Base>(
      context, [](typename Base::Value x, typename Exponent::Value y) { return power(x, y); });
  return {};
}

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_POW(T)             \
  template struct Pow<T, float>;    \
  template struct Pow<T, double>;   \
  template struct Pow<T, Float16>;  \
  template struct Pow<T, BFloat16>; \
  template struct Pow<T, int8_t>;   \
  template struct Pow<T, int16_t>;  \
  template struct Pow<T, int32_t>;  \
  template struct Pow<T, int64_t>;  \
  template struct Pow<T, uint8_t>;  \
  template struct Pow<T, uint16_t>; \
  template struct Pow<T, uint32_t>; \
  template struct Pow<T, uint64_t>
INTARSIA_POW(float);
INTARSIA_POW(double);
INTARSIA_POW(Float16);
INTARSIA_POW(BFloat16);
INTARSIA_POW(int32_t);
INTARSIA_POW(int64_t);

}  // namespace intarsia::cpu
