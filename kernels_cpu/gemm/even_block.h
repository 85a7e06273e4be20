// SPDX-License-Identifier: Apache-2.0
//
// Blocks of nearly equal size that a matrix is cut into, and the arithmetic of doing so.
#pragma once

#include <type_traits>

namespace intarsia::cpu {

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return a < b ? a : b;
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a > b ? a : b;
}
template <class T>
constexpr T ceil_div(T a, std::type_identity_t<T> b) {
  return (a + b - 1) / b;
}
template <class T>
constexpr T round_up(T a, std::type_identity_t<T> step) {
  return ceil_div(a, step) * step;
}
/// A multiple of `step`, and none above `most` where that is one, too. REQUIRES: total > 0.
template <class T>
constexpr T even_block(T total, std::type_identity_t<T> most, std::type_identity_t<T> step) {
  return round_up(ceil_div(total, ceil_div(total, most < step ? step : most)), step);
}

}  // namespace intarsia::cpu
