// SPDX-License-Identifier: Apache-2.0
//
// Powers of floats as exp(y log |x|) in double precision: it leaves no error but that of rounding
// the result. Special cases are those of C's pow. Where vectors hold fewer than four doubles, the C
// library is faster.
#pragma once

#include "kernels_cpu/math/vector_double.h"

namespace intarsia::cpu {

/// log(a) for a = |x|, x a float; minimax polynomial as in vector_double.h, error 5e-12.
template <class M>
INTARSIA_INLINE typename M::D log_for_power(typename M::D a) {
  using D = typename M::D;
  D n;
  const D f = M::split(a, n);
  const D s = f / (f + 2.0);
  const D z = s * s;
  const D p = polynomial(z, 2.0, 0.6666666564505395, 0.4000033528917062, 0.2853730187164128,
                         0.2358228550088885);
  const D y = n * 0.6931471805599453 + s * p;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return a == 0.0 ? M::splat(-kInfinity) : a < kInfinity ? y : a;
}

/// exp(t) where that is a float, infinity or 0 beyond; error 5e-11.
template <class M>
INTARSIA_INLINE typename M::D exp_for_power(typename M::D t) {
  using D = typename M::D;
  t = t < -160.0 ? M::splat(-160.0) : t;
  t = t > 160.0 ? M::splat(160.0) : t;
  const D n = (t * 1.4426950408889634 + M::kRound) - M::kRound;
  const D r = t - n * 0.6931471805599453;
  const D p = polynomial(r, 1.0, 1.0, 0.5000000078433813, 0.1666666686192098, 0.041666268141054515,
                         0.008333264062114296, 0.0013946203076567756, 0.00019918550249547576);
  return p * M::power_of_two(n);
}

/// Vec: half as many floats as there are in a vector.
template <class Vec>
INTARSIA_INLINE typename Vec::F power_of(typename Vec::F base, typename Vec::F exponent) {
  using M = DoubleMath<Vec::kWidth>;
  using D = typename M::D;
  using L = typename M::L;
  const D x = M::template widen<Vec>(base);
  const D y = M::template widen<Vec>(exponent);
  const D a = M::abs(x);
  // 1 to a power that is no number of reals: 0 log 1 would be NaN for infinity.
  const D t = y * log_for_power<M>(a);
  const D unsigned_power = exp_for_power<M>(a == 1.0 ? (y == y ? M::splat(0.0) : y) : t);
  // Floats from 2^24 are even integers.
  const D size = M::abs(y) < 0x1p25 ? M::abs(y) : M::splat(0x1p25);
  const D shifted = size + M::kRound;
  const D whole = shifted - M::kRound;
  const L sign = M::bits(x) & (M::bits(shifted) << 63);
  const D signed_power = M::from_bits(M::bits(unsigned_power) ^ sign);
  const D infinity = M::splat(std::numeric_limits<double>::infinity());
  const D nan = M::splat(std::numeric_limits<double>::quiet_NaN());
  const D of_fraction = x < 0.0 ? (a < infinity ? nan : unsigned_power) : unsigned_power;
  const D power = whole == size ? signed_power : of_fraction;
  const D one = M::splat(1.0);
  return M::template narrow<Vec>(y == 0.0 ? one : x == 1.0 ? one : power);
}

template <Isa I>
INTARSIA_INLINE void map_powers(const float* x, const float* y, float* z, int64_t n) {
  constexpr int kWidth = kDoubles<I>;
  if constexpr (kWidth < 4) {
    for (int64_t i = 0; i < n; ++i) z[i] = __builtin_powf(x[i], y[i]);
  } else {
    using Half = VectorOf<I, kWidth>;
    for (int64_t i = 0; i < n; i += kWidth) {
      const bool whole = n - i >= kWidth;
      const int count = static_cast<int>(n - i);
      const auto v = power_of<Half>(whole ? Half::load(x + i) : Half::load_part(x + i, count),
                                    whole ? Half::load(y + i) : Half::load_part(y + i, count));
      if (whole) {
        Half::store(z + i, v);
      } else {
        Half::store_part(z + i, v, count);
      }
    }
  }
}

}  // namespace intarsia::cpu
