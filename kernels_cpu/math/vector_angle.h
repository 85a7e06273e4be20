// SPDX-License-Identifier: Apache-2.0
//
// Trigonometric functions and their inverses on the vectors of vector.h.
//
// sin, cos and tan: x = n pi/2 + r in double precision, pi/2 in two parts, the first of 30 bits, so
// that up to 2^23 its product with n is exact and r has all the digits that a float needs. Larger
// arguments, which no model means, go to the C library one by one. Without vectors there is nothing
// to win, and double precision may have no hardware: the C library does it all.
#pragma once

#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/math/vector_double.h"

namespace intarsia::cpu {

/// What makes a function of x from those of r: `of` of a quadrant's two low bits, sin r and cos r.
struct Sine {
  INTARSIA_INLINE static float library(float x) { return __builtin_sinf(x); }
  INTARSIA_INLINE static double library(double x) { return __builtin_sin(x); }
  template <class F, class D, class L>
  INTARSIA_INLINE static F of(L quadrant, D sine, D cosine) {
    const D value = (quadrant & 1) != 0 ? cosine : sine;
    const L sign = (quadrant & 2) << 62;
    return __builtin_convertvector(__builtin_bit_cast(D, __builtin_bit_cast(L, value) ^ sign), F);
  }
};
struct Cosine {
  INTARSIA_INLINE static float library(float x) { return __builtin_cosf(x); }
  INTARSIA_INLINE static double library(double x) { return __builtin_cos(x); }
  template <class F, class D, class L>
  INTARSIA_INLINE static F of(L quadrant, D sine, D cosine) {
    return Sine::of<F>(quadrant + 1, sine, cosine);
  }
};
struct Tangent {
  INTARSIA_INLINE static float library(float x) { return __builtin_tanf(x); }
  INTARSIA_INLINE static double library(double x) { return __builtin_tan(x); }
  template <class F, class D, class L>
  INTARSIA_INLINE static F of(L quadrant, D sine, D cosine) {
    const D above = (quadrant & 1) != 0 ? cosine : sine;
    const D below = (quadrant & 1) != 0 ? -sine : cosine;
    return __builtin_convertvector(above, F) / __builtin_convertvector(below, F);
  }
};

inline constexpr float kLargestAngle = 8388608.0f;

/// y with Function's values by the C library where x is too large.
template <class Vec, class Function>
[[gnu::noinline]] typename Vec::F with_large_angles(typename Vec::F x, typename Vec::F y) {
  float in[Vec::kWidth], out[Vec::kWidth];
  Vec::store(in, x);
  Vec::store(out, y);
  for (int i = 0; i < Vec::kWidth; ++i) {
    if (in[i] > kLargestAngle || in[i] < -kLargestAngle) out[i] = Function::library(in[i]);
  }
  return Vec::load(out);
}

/// Whether a lane of a mask is set.
template <class Mask>
INTARSIA_INLINE bool any_lane(Mask mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Mask) == 64) return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(Mask) == 32) return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
  if constexpr (sizeof(Mask) == 16) return !_mm_testz_si128((__m128i)mask, (__m128i)mask);
#endif
  int64_t words[sizeof(Mask) / sizeof(int64_t)];
  std::memcpy(words, &mask, sizeof words);
  int64_t any = 0;
  for (const int64_t word : words) any |= word;
  return any != 0;
}

template <class Vec>
INTARSIA_INLINE bool any_large_angle(typename Vec::F x) {
  using I = typename Vec::I;
  const I magnitude = Vec::bits(x) & 0x7fffffff;
  return any_lane((magnitude > 0x4b000000) & (magnitude < 0x7f800000));  // of infinity: NaN
}

/// Vec: half as many floats as there are in a vector.
template <class Vec, class Function>
INTARSIA_INLINE typename Vec::F of_angle(typename Vec::F x) {
  using D = typename Doubles<Vec::kWidth>::D;
  using L = typename Doubles<Vec::kWidth>::L;
  constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer
  const D wide = __builtin_convertvector(x, D);
  const D shifted = wide * 0.63661977236758134 + kRound;
  const D n = shifted - kRound;
  const D r = (wide - n * 0x1.921fb54p+0) - n * 0x1.10b4611a62633p-30;
  const D z = r * r;
  // Minimax polynomials up to pi/4, errors 4e-9 and 6e-11.
  const D sine = r * polynomial(z, 1.0, -0.166666549, 0.00833217756, -0.000195172171);
  const D cosine = polynomial(z, 1.0, -0.499999997, 0.0416666203, -0.00138866805, 2.43834597e-05);
  const auto y =
      Function::template of<typename Vec::F>(__builtin_bit_cast(L, shifted), sine, cosine);
  return any_large_angle<Vec>(x) ? with_large_angles<Vec, Function>(x, y) : y;
}

template <Isa I, class Function>
INTARSIA_INLINE void map_angles(const float* x, float* y, int64_t n) {
  constexpr int kWidth = IsaVector<I>::kWidth;
  if constexpr (kWidth == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = Function::library(x[i]);
  } else {
    using Half = VectorOf<I, kWidth / 2>;
    map_rows<Half>(x, n, y, n, 1, n,
                   [](typename Half::F v) { return of_angle<Half, Function>(v); });
  }
}

template <class Vec>
struct VectorArc {
  using M = VecMath<Vec>;
  using F = typename Vec::F;

  /// pi/2 - y; pi/2 in two parts.
  INTARSIA_INLINE static F complement(F y) { return (1.57079637f - y) - 4.37113883e-8f; }

  /// Of a = |x|: asin(a) where a is up to 1/2, and where it is more acos(a) / 2 = asin(b), where
  /// b = sqrt((1 - a) / 2). asin(t) = t + t^3 P(t^2) up to 1/2 (minimax polynomial, error 5e-9).
  INTARSIA_INLINE static F asin_or_half_acos(F a) {
    const F z = a > 0.5f ? (1.0f - a) * 0.5f : a * a;
    const F t = a > 0.5f ? Vec::sqrt(z) : a;
    return t + t * z *
                   polynomial(z, 0.166667528f, 0.0749528272f, 0.0454723557f, 0.0241692845f,
                              0.0421843791f);
  }
  INTARSIA_INLINE static F asin(F x) {
    const F a = M::abs(x);
    const F y = asin_or_half_acos(a);
    return M::copy_sign(a > 0.5f ? complement(y + y) : y, x);
  }
  INTARSIA_INLINE static F acos(F x) {
    const F a = M::abs(x);
    const F y = asin_or_half_acos(a);
    const F of_a = a > 0.5f ? y + y : complement(y);
    return x < 0.0f ? (3.14159274f - of_a) - 8.74227766e-8f : of_a;
  }

  /// atan(t) = t + t^3 P(t^2) up to 1 (minimax polynomial, error 3e-9), pi/2 - atan(1 / t) beyond.
  INTARSIA_INLINE static F atan(F x) {
    const F a = M::min(M::abs(x), M::splat(1e9f));  // pi / 2 there
    const F one = M::splat(1.0f);
    const F t = (a > 1.0f ? one : a) / (a > 1.0f ? a : one);
    const F z = t * t;
    const F p =
        polynomial(z, -0.333332991f, 0.199985483f, -0.142642419f, 0.109521867f, -0.0840345268f,
                   0.0579576267f, -0.0311778727f, 0.0109146172f, -0.00179362372f);
    const F y = t + t * z * p;
    return M::copy_sign(a > 1.0f ? complement(y) : y, x);
  }
};

}  // namespace intarsia::cpu
