// SPDX-License-Identifier: Apache-2.0
//
// Vectors of doubles, half as many as a vector has floats, and functions on them in double
// precision. The methods are those of gemm/vec_math.h; log(m) = log(1 + f) is taken from s = f / (2
// + f), as f - f^2 / 2 + s (f^2 / 2 + s^2 P(s^2)), f = m - 1 (minimax polynomials, errors 4e-18 and
// 2e-18).
#pragma once

#include <limits>

#include "kernels_cpu/math/polynomial.h"

namespace intarsia::cpu {

template <int Width>
struct Doubles {
  typedef double D __attribute__((vector_size(8 * Width)));    // NOLINT(modernize-use-using)
  typedef int64_t L __attribute__((vector_size(8 * Width)));   // NOLINT(modernize-use-using)
  typedef uint64_t U __attribute__((vector_size(8 * Width)));  // NOLINT(modernize-use-using)
};
template <>
struct Doubles<1> {
  using D = double;
  using L = int64_t;
  using U = uint64_t;
};
template <Isa I>
inline constexpr int kDoubles = IsaVector<I>::kWidth == 1 ? 1 : IsaVector<I>::kWidth / 2;

template <int Width>
struct DoubleMath {
  using D = typename Doubles<Width>::D;
  using L = typename Doubles<Width>::L;
  using U = typename Doubles<Width>::U;
  /// Added to a double below 2^51, it rounds it to an integer, which the low bits then hold.
  static constexpr double kRound = 0x1.8p52;

  INTARSIA_INLINE static D splat(double x) { return x - D{}; }  // x + D{} would lose -0.
  INTARSIA_INLINE static L bits(D x) { return __builtin_bit_cast(L, x); }
  INTARSIA_INLINE static D from_bits(L x) { return __builtin_bit_cast(D, x); }
  template <class Vec>
  INTARSIA_INLINE static D widen(typename Vec::F x) {
    if constexpr (Width == 1) {
      return x;
    } else {
      return __builtin_convertvector(x, D);
    }
  }
  template <class Vec>
  INTARSIA_INLINE static typename Vec::F narrow(D x) {
    if constexpr (Width == 1) {
      return static_cast<float>(x);
    } else {
      return __builtin_convertvector(x, typename Vec::F);
    }
  }
  INTARSIA_INLINE static D abs(D x) { return from_bits(bits(x) & 0x7fffffffffffffff); }
  INTARSIA_INLINE static D copy_sign(D magnitude, D sign) {
    return from_bits(bits(magnitude) | (bits(sign) & (-0x7fffffffffffffff - 1)));
  }
  /// 2^n, n an integer among the exponents of normal numbers.
  INTARSIA_INLINE static D power_of_two(D n) {
    const U low = __builtin_bit_cast(U, n + kRound) << 52;
    return __builtin_bit_cast(D, low + (uint64_t{1023} << 52));
  }

  /// Below it exponentials are 0, or nothing beside 1.
  static constexpr double kLeastExponent = -746.0, kLeastTerm = -80.0;

  // x = n ln 2 + r; returns expm1(r), and two powers of two whose product is 2^n. Below `least` as
  // for that.
  INTARSIA_INLINE static D reduce(D x, D& half, D& rest, double least = kLeastExponent) {
    x = x < least ? splat(least) : x;
    x = x > 710.0 ? splat(710.0) : x;
    const D n = (x * 1.4426950408889634 + kRound) - kRound;
    const D r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    const D lower = (n * 0.5 + kRound) - kRound;
    half = power_of_two(lower);
    rest = power_of_two(n - lower);
    const D q = polynomial(r, 0.5000000000000013, 0.166666666666667, 0.041666666666514036,
                           0.008333333333306981, 0.0013888888947412713, 0.00019841269917876295,
                           2.480148949975385e-05, 2.755721585311648e-06, 2.763144821726912e-07,
                           2.51180052324578e-08);
    return r * r * q + r;
  }
  INTARSIA_INLINE static D exp(D x) {
    D half, rest;
    const D p = reduce(x, half, rest);
    half = x < kLeastExponent ? splat(0.0) : half;  // what underflows takes long
    const D y = (half + half * p) * rest;
    return x != x ? x : y;
  }
  INTARSIA_INLINE static D sigmoid(D x) {
    const D e = exp(x > -kLeastTerm ? splat(kLeastTerm) : -abs(x));
    return (x < 0.0 ? e : splat(1.0)) / (e + 1.0);
  }
  INTARSIA_INLINE static D tanh(D x) {
    D half, rest;
    const D p = reduce(-2.0 * abs(x), half, rest, kLeastTerm);
    const D scale = half * rest;
    const D e = scale * p + (scale - 1.0);
    return x != x ? x : copy_sign((0.0 - e) / (e + 2.0), x);
  }

  /// x = m 2^n with m from sqrt(1/2) to sqrt(2), for normal numbers; returns m - 1, and n.
  INTARSIA_INLINE static D split(D x, D& n) {
    constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;
    const L shifted = (bits(x) & 0x7fffffffffffffff) - kRootHalf;
    // The exponent, not below 0 for the shift, becomes a double below the bits of 2^52.
    const U e = (__builtin_bit_cast(U, shifted) + (uint64_t{1024} << 52)) >> 52;
    n = __builtin_bit_cast(D, e + 0x4330000000000000u) - (0x1p52 + 1024);
    return from_bits((shifted & 0xfffffffffffff) + kRootHalf) - 1.0;
  }

  INTARSIA_INLINE static D log(D x) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    D n;
    const D f = split(x < 0x1p-1022 ? x * 0x1p54 : x, n);
    n = x < 0x1p-1022 ? n - 54.0 : n;
    const D s = f / (f + 2.0);
    const D z = s * s;
    const D p = z * polynomial(z, 0.6666666666666734, 0.3999999999941436, 0.2857142874246669,
                               0.22222198564280957, 0.18183564826400703, 0.15314036858957336,
                               0.14796095132623222);
    const D h = 0.5 * f * f;
    const D rest = h - (s * (h + p) + n * 1.90821492927058770002e-10);
    const D y = n * 6.93147180369123816490e-01 - (rest - f);
    const D special =
        x == 0.0 ? splat(-kInfinity) : splat(std::numeric_limits<double>::quiet_NaN());
    return x > 0.0 ? (x == kInfinity ? x : y) : special;
  }
};

/// y[i] = function(x[i]), unless kStore is false; the last vector is filled up from `fill`, which
/// has Width elements. x and y may be the same.
template <int Width, bool kStore, class Function>
INTARSIA_INLINE void map_doubles(const double* x, double* y, int64_t n, const double* fill,
                                 Function function) {
  using D = typename Doubles<Width>::D;
  double part[Width] = {};
  // One copy of `function` serves whole vectors and the last part.
  for (int64_t i = 0; i < n; i += Width) {
    const int64_t rest = n - i;
    if (rest < Width) {
      for (int64_t k = 0; k < Width; ++k) part[k] = k < rest ? x[i + k] : fill[k];
    }
    D v;
    std::memcpy(&v, rest < Width ? part : x + i, sizeof v);
    v = function(v);
    if constexpr (kStore) {
      std::memcpy(rest < Width ? part : y + i, &v, sizeof v);
      for (int64_t k = 0; rest < Width && k < rest; ++k) y[i + k] = part[k];
    }
  }
}
template <int Width, class Function>
INTARSIA_INLINE void map_doubles(const double* x, double* y, int64_t n, Function function) {
  const double zeros[Width] = {};
  map_doubles<Width, true>(x, y, n, zeros, function);
}

}  // namespace intarsia::cpu
