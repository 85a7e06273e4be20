// SPDX-License-Identifier: Apache-2.0
//
// exp, expm1, tanh, sigmoid, softplus and GELU on vectors, in float arithmetic.
//
// exp(x) = 2^n * (1 + p), n = round(x / ln 2), p = expm1(x - n ln 2) by a minimax polynomial (error
// 1.4e-8); what is made of it is written so that nothing cancels. Relative error of all of them
// is below 1e-6 wherever the result is a normal number. NaN gives NaN.
//
// Processors take more than a hundred cycles for a product that is subnormal or that underflows:
// nothing does but a result that is subnormal, and what is 0 is made from zeros.
//
// `Vec` is an IsaVector (vector.h).
#pragma once

#include "core/operators/common/activation.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

template <class Vec>
struct VecMath {
  using F = typename Vec::F;
  using I = typename Vec::I;

  INTARSIA_INLINE static F splat(float x) { return x - F{}; }  // x + F{} would lose -0.
  INTARSIA_INLINE static F max(F x, F low) { return Vec::max(x, low); }
  INTARSIA_INLINE static F min(F x, F high) { return Vec::min(x, high); }
  INTARSIA_INLINE static F abs(F x) { return Vec::from_bits(Vec::bits(x) & 0x7fffffff); }
  INTARSIA_INLINE static F minus_abs(F x) {
    return Vec::from_bits(Vec::bits(x) | (-0x7fffffff - 1));
  }
  INTARSIA_INLINE static F copy_sign(F magnitude, F sign) {
    return Vec::from_bits(Vec::bits(magnitude) | (Vec::bits(sign) & (-0x7fffffff - 1)));
  }

  static constexpr float kRound = kIntegerAnchor;
  // Below it exponentials are 0.
  static constexpr float kLeastExponent = -104.0f;
  // Its power of two is 2^-151, and 2^-127, which is 0, by a factor of 2^24.
  static constexpr float kZeroExponent = -104.67f;
  // Below it they are nothing beside 1, and small powers of them are numbers still.
  static constexpr float kLeastTerm = -40.0f;

  // x = n ln 2 + r; returns expm1(r), and n + exponent + kRound, whose bits count n + exponent:
  // shifted to where exponents are, they leave behind what kRound adds.
  template <int exponent>
  INTARSIA_INLINE static F reduce_to(F x, F& shifted) {
    constexpr float kAnchor = kRound + exponent;
    shifted = x * 1.44269504f + kAnchor;
    const F n = shifted - kAnchor;
    const F r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
    F q = r * 0.00139476f + 0.00836724f;
    q = q * r + 0.04166627f;
    q = q * r + 0.16666538f;
    q = q * r + 0.50000001f;
    return r * r * q + r;
  }

  // The same of all x from `least` on whose exponential is not infinite, and n; NaN remains.
  INTARSIA_INLINE static F reduce(F x, F& n, float least = kLeastExponent) {
    F shifted;
    const F p = reduce_to<0>(min(max(x, splat(least)), splat(90.0f)), shifted);
    n = shifted - kRound;
    return p;
  }

  // exp of what is not positive: a single power of two serves; 0 where it would be subnormal.
  INTARSIA_INLINE static F exp_negative(F x) {
    F shifted;
    const F p = reduce_to<127>(max(x, splat(-88.0f)), shifted);
    const F scale = Vec::from_bits(Vec::bits(shifted) << 23);
    return scale + scale * p;
  }

  // The same, subnormal results too: they become so by a factor at the end. REQUIRES: x from
  // kZeroExponent to 0.
  INTARSIA_INLINE static F exp_decay(F x) {
    F shifted;
    const F p = reduce_to<127 + 24>(x, shifted);
    const F scale = Vec::from_bits(Vec::bits(shifted) << 23);
    return (scale + scale * p) * 0x1p-24f;
  }
  // exp(-|x|); where x is positive, for a term that is added to 1.
  INTARSIA_INLINE static F exp_decay_of(F x) {
    return exp_decay(minus_abs(min(max(x, splat(kZeroExponent)), splat(-kLeastTerm))));
  }

  INTARSIA_INLINE static F exp(F x) {
    F n;
    const F p = reduce(x, n);
    return Vec::scale(x < kLeastExponent ? splat(0.0f) : p + 1.0f, n);
  }

  INTARSIA_INLINE static F expm1(F x) {
    F n;
    const F p = reduce(x, n, kLeastTerm);
    const F scale = Vec::scale(splat(1.0f), n);
    return scale * p + (scale - 1.0f);
  }

  INTARSIA_INLINE static F sigmoid(F x) {
    const F e = exp_decay_of(x);
    return Vec::ratio(x < 0.0f ? e : splat(1.0f), e + 1.0f);
  }

  // x P(x^2) / Q(x^2), minimax up to 9 (error 2e-8), where tanh rounds to 1. It grows on and is cut
  // off, so that rounding does not lead beyond 1 either.
  INTARSIA_INLINE static F tanh(F x) {
    x = min(max(x, splat(-9.75f)), splat(9.75f));
    const F s = x * x;
    F p = s * 1.33544908e-8f + 2.06089553e-5f;
    F q = s * 7.77648722e-7f + 3.28562193e-4f;
    p = p * s + 3.49558028e-3f;
    q = q * s + 2.58769523e-2f;
    p = p * s + 0.133810192f;
    q = q * s + 0.467143357f;
    p = p * s + 1.0f;
    q = q * s + 1.0f;
    return min(max(Vec::ratio(x * p, q), splat(-1.0f)), splat(1.0f));
  }

  // max(x, 0) + log1p(z), z = exp(-|x|); log1p(z) = 2 atanh(s), s = z / (z + 2) <= 1/3. The
  // square of s is nothing beside 1 long before it underflows.
  INTARSIA_INLINE static F softplus(F x) {
    const F z = exp_decay_of(x);
    const F s = Vec::ratio(z, z + 2.0f);
    const F some = max(s, splat(1e-10f)), s2 = some * some;
    F q = s2 * 0.14089168f + 0.13980302f;
    q = q * s2 + 0.20012455f;
    q = q * s2 + 0.33333157f;
    const F log1p = 2.0f * s * (1.0f + s2 * q);
    return max(x, splat(0.0f)) + log1p;
  }

  // x * Phi(x). Phi(-|x|) = erfc(z) / 2, z = |x| / sqrt(2), erfc(z) = t * g(t) * exp(-z^2) with
  // t = 1 / (1 + 0.3 z); g is a minimax polynomial (error 2e-8). What z^2 lost by rounding is put
  // back.
  INTARSIA_INLINE static F gelu(F x) {
    // Up to what kZeroExponent and kLeastTerm are.
    const F z = abs(min(max(x, splat(-14.46858f)), splat(9.0f)));
    const F t = Vec::ratio(splat(1.0f), z * 0.212132034f + 1.0f);
    F g = t * -0.129252389f + 0.484297968f;
    g = g * t - 0.509765167f;
    g = g * t + 0.544959312f;
    g = g * t - 0.0928211753f;
    g = g * t + 0.214179510f;
    g = g * t + 0.148521706f;
    g = g * t + 0.170690870f;
    g = g * t + 0.169189357f;
    const F high = Vec::from_bits(Vec::bits(z) & ~0xfff);
    const F square = z * z;
    const F lost = (high * high - square) + (z - high) * (z + high);
    const F tail = 0.5f * t * g * exp_decay(square * -0.5f) * (1.0f - 0.5f * lost);
    return x * (x < 0.0f ? tail : 1.0f - tail);
  }

  INTARSIA_INLINE static F gelu_tanh(F x) {
    const F x3 = x * x * x;
    return x * sigmoid(1.595769122f * (x + 0.044715f * x3));
  }
};

/// y = function(x) for `rows` rows of n elements. x and y may be the same.
template <class Vec, class Function>
INTARSIA_INLINE void map_rows(const float* x, int64_t x_pitch, float* y, int64_t y_pitch,
                              int64_t rows, int64_t n, Function function) {
  constexpr int kWidth = Vec::kWidth;
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * x_pitch;
    float* out = y + r * y_pitch;
    // One copy of `function`, which may be long, serves whole vectors and the last part.
    for (int64_t i = 0; i < n; i += kWidth) {
      const bool whole = n - i >= kWidth;
      const int count = static_cast<int>(n - i);
      const auto v = function(whole ? Vec::load(in + i) : Vec::load_part(in + i, count));
      if (whole) {
        Vec::store(out + i, v);
      } else {
        Vec::store_part(out + i, v, count);
      }
    }
  }
}

/// y = act(x), likewise.
template <class Vec>
void activate_rows(const ActivationSpec& spec, const float* x, int64_t x_pitch, float* y,
                   int64_t y_pitch, int64_t rows, int64_t n) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  const F alpha = M::splat(spec.alpha);
  const F beta = M::splat(spec.beta);
  const F zero = M::splat(0.0f);
  const F one = M::splat(1.0f);
  const auto map = [=](auto function) { map_rows<Vec>(x, x_pitch, y, y_pitch, rows, n, function); };
  switch (spec.kind) {
    case Activation::kNone:
      return map([](F v) { return v; });
    case Activation::kRelu:
      return map([=](F v) { return M::max(v, zero); });
    case Activation::kClip:
      return map([=](F v) { return M::min(M::max(v, alpha), beta); });
    case Activation::kLeakyRelu:
      return map([=](F v) { return v < zero ? alpha * v : v; });
    case Activation::kElu:
      return map([=](F v) { return v < zero ? alpha * M::expm1(v) : v; });
    case Activation::kSigmoid:
      return map([](F v) { return M::sigmoid(v); });
    case Activation::kTanh:
      return map([](F v) { return M::tanh(v); });
    case Activation::kHardSigmoid:
      return map([=](F v) { return M::min(M::max(v * alpha + beta, zero), one); });
    case Activation::kHardSwish:
      return map([=](F v) { return v * M::min(M::max(v * 0.166666667f + 0.5f, zero), one); });
    case Activation::kSilu:
      return map([](F v) { return v * M::sigmoid(v); });
    case Activation::kGelu:
      return map([](F v) { return M::gelu(v); });
    case Activation::kGeluTanh:
      return map([](F v) { return M::gelu_tanh(v); });
    case Activation::kSoftplus:
      return map([](F v) { return M::softplus(v); });
  }
}

}  // namespace intarsia::cpu
