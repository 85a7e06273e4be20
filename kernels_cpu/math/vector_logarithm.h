// SPDX-License-Identifier: Apache-2.0
//
// log and the inverse hyperbolic functions on the vectors of vector.h. All of them are the
// logarithm of a sum: log(1 + u) is exact where u is small, since what the sum 1 + u loses is put
// back.
#pragma once

#include <limits>

#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/math/polynomial.h"

namespace intarsia::cpu {

template <class Vec>
struct VectorLogarithm {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  using I = typename Vec::I;

  /// log(high + low) + twos ln 2, where low is below the last place of high, and `high` is a normal
  /// number, 0, infinity, negative or NaN; up to 2^127 unless kLow is false, which ignores `low`.
  ///
  /// high = m 2^e with m from sqrt(1/2) to sqrt(2); log(1 + f) = f - f^2 / 2 + f^3 P(f), where
  /// f = (high + low) 2^-e - 1 (minimax polynomial, error 6e-9).
  template <bool kLow = true>
  INTARSIA_INLINE static F of_sum(F high, F low, F twos) {
    constexpr int32_t kRootHalf = 0x3f3504f3;
    const I shifted = (Vec::bits(high) & 0x7fffffff) - kRootHalf;
    const I e = shifted >> 23;
    const F m = Vec::from_bits((shifted & 0x7fffff) + kRootHalf);
    F f = m - 1.0f;
    if constexpr (kLow) f += low * Vec::from_bits((127 - e) << 23);
    // Added to the bits of 1.5 * 2^23, an integer becomes a float.
    constexpr float kRound = 12582912.0f;
    const F n = (Vec::from_bits(Vec::bits(M::splat(kRound)) + e) - kRound) + twos;
    const F square = f * f;
    const F p = polynomial(f, 0.333333167f, -0.250008104f, 0.200022863f, -0.166245541f,
                           0.141811916f, -0.131287537f, 0.128816496f, -0.0785961697f);
    const F rest = (f * square * p + n * -2.12194440e-4f) - 0.5f * square;
    const F y = (f + rest) + n * 0.693359375f;
    const F special = high == 0.0f ? M::splat(-kInfinity) : M::splat(kNan);
    return high > 0.0f ? (high == kInfinity ? high : y) : special;
  }

  /// log(1 + u)
  INTARSIA_INLINE static F of_one_plus(F u) {
    const F high = u + 1.0f;
    return of_sum(high, rest_of_one_plus(u, high), M::splat(0.0f));
  }

  INTARSIA_INLINE static F log(F x) {
    const F normal = x < 0x1p-126f ? x * 0x1p25f : x;
    const F twos = x < 0x1p-126f ? M::splat(-25.0f) : M::splat(0.0f);
    return of_sum<false>(normal, twos, twos);
  }

  /// log(x + sqrt(x^2 + 1)) = log(1 + u); from 2^12, where the root is x, log(2 x).
  INTARSIA_INLINE static F asinh(F x) {
    const F a = M::abs(x);
    const F square = a * a;
    return M::copy_sign(of_sum_or_double(a, a + square / (Vec::sqrt(square + 1.0f) + 1.0f)), x);
  }

  /// log(x + sqrt(x^2 - 1)), likewise.
  INTARSIA_INLINE static F acosh(F x) {
    const F y = x - 1.0f;
    const F result = of_sum_or_double(x, y + Vec::sqrt(y * (y + 2.0f)));
    return x < 1.0f ? M::splat(kNan) : result;
  }

  /// log((1 + x) / (1 - x)) / 2 = log(1 + 2 x / (1 - x)) / 2
  INTARSIA_INLINE static F atanh(F x) {
    const F a = M::abs(x);
    return M::copy_sign(0.5f * of_one_plus((a + a) / (1.0f - a)), x);
  }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  /// 1 + u - high.
  INTARSIA_INLINE static F rest_of_one_plus(F u, F high) {
    const F added = high - 1.0f;
    return (1.0f - (high - added)) + (u - added);
  }

  /// log(1 + u), or log(2 x) where x is large.
  INTARSIA_INLINE static F of_sum_or_double(F x, F u) {
    const F zero = M::splat(0.0f);
    const F sum = u + 1.0f;
    const F high = x > 4096.0f ? x * 0.5f : sum;
    const F low = x > 4096.0f ? zero : rest_of_one_plus(u, sum);
    return of_sum(high, low, x > 4096.0f ? M::splat(2.0f) : zero);
  }
};

}  // namespace intarsia::cpu
