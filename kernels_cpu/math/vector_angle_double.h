// SPDX-License-Identifier: Apache-2.0
//
// sin, cos and tan in double precision on vectors.
//
// x = n pi/2 + r, pi/2 in three parts, the first two of 33 bits, so that up to n = 2^20 their
// products with n are exact; r is the sum of two doubles, since next to a multiple of pi/2 most
// digits of one cancel. Larger arguments go to the C library one by one, as they all do without
// vectors. sin r = r + r^3 P(r^2), cos r = 1 - r^2 / 2 + r^4 Q(r^2) (polynomials through Chebyshev
// nodes up to pi/4, errors 2e-17 and 2e-18).
#pragma once

#include "kernels_cpu/math/vector_angle.h"

namespace intarsia::cpu {

inline constexpr double kLargestAngleDouble = 0x1.9p20;

/// y with Function's values by the C library where x is too large.
template <Isa I, class Function, class D = typename Doubles<kDoubles<I>>::D>
[[gnu::noinline]] D with_large_doubles(D x, D y) {
  double in[kDoubles<I>], out[kDoubles<I>];
  std::memcpy(in, &x, sizeof x);
  std::memcpy(out, &y, sizeof y);
  for (int i = 0; i < kDoubles<I>; ++i) {
    if (in[i] > kLargestAngleDouble || in[i] < -kLargestAngleDouble) {
      out[i] = Function::library(in[i]);
    }
  }
  std::memcpy(&y, out, sizeof y);
  return y;
}

template <Isa I, class Function>
INTARSIA_INLINE typename Doubles<kDoubles<I>>::D of_double_angle(
    typename Doubles<kDoubles<I>>::D x) {
  using M = DoubleMath<kDoubles<I>>;
  using D = typename M::D;
  const D shifted = x * 0.63661977236758134 + M::kRound;
  const D n = shifted - M::kRound;
  const D high = x - n * 0x1.921fb544p+0, low = n * 0x1.0b4611a6p-34;
  // high - low as a rounded sum and what it lost, then both without the third part.
  const D sum = high - low;
  const D turned = sum - high;
  const D lost = (high - (sum - turned)) - (low + turned);
  const D rest = n * 0x1.3198a2e037073p-69 - lost;
  const D r = sum - rest;
  const D tail = (sum - r) - rest;
  const D z = r * r;
  const D cube = z * r;
  const D p = polynomial(z, 0.008333333333330936, -0.00019841269836740532, 2.7557316093198404e-06,
                         -2.5051129896450185e-08, 1.5917988979397435e-10);
  const D sine = r - ((z * (tail * 0.5 - cube * p) - tail) + cube * 0.16666666666666666);
  const D half = z * 0.5;
  const D near = 1.0 - half;
  const D q = z * polynomial(z, 0.041666666666666664, -0.0013888888888887389, 2.48015872987544e-05,
                             -2.755731726587808e-07, 2.087614504941318e-09, -1.138254464534925e-11);
  const D cosine = near + (((1.0 - near) - half) + (z * q - r * tail));
  const D y = Function::template of<D>(M::bits(shifted), sine, cosine);
  const auto large = M::abs(x) > kLargestAngleDouble;  // NaN is not
  return any_lane(large) ? with_large_doubles<I, Function>(x, y) : y;
}

template <Isa I, class Function>
INTARSIA_INLINE void map_double_angles(const double* x, double* y, int64_t n) {
  constexpr int kWidth = kDoubles<I>;
  if constexpr (kWidth == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = Function::library(x[i]);
  } else {
    map_doubles<kWidth>(
        x, y, n, [](typename Doubles<kWidth>::D v) { return of_double_angle<I, Function>(v); });
  }
}

}  // namespace intarsia::cpu
