// SPDX-License-Identifier: Apache-2.0
//
// The members of `VectorMath<I>` and `VectorMathDouble<I>`, for the file of instruction set I that
// instantiates them.
#pragma once

#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/math/vector_angle.h"
#include "kernels_cpu/math/vector_hyperbolic.h"
#include "kernels_cpu/math/vector_logarithm.h"
#include "kernels_cpu/math/vector_math.h"
#include "kernels_cpu/math/vector_power.h"
#include "kernels_cpu/math/vector_softmax.h"

namespace intarsia::cpu {

template <class Vec, class Function>
INTARSIA_INLINE void map_vectors(const float* x, float* y, int64_t n, Function function) {
  map_rows<Vec>(x, n, y, n, 1, n, function);
}

// Two ranges: x + x P(x^2) up to 0.93, else 1 - exp(Q(|x|)); beyond 4 the result rounds to 1.
template <class Vec>
INTARSIA_INLINE typename Vec::F erf_of(typename Vec::F x) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  const F t = M::min(M::abs(x), M::splat(4.0f));
  const F s = t * t;
  F q = (t * -1.72853470e-5f + 3.83197126e-4f) * s + (t * -3.88396438e-3f + 2.42546219e-2f);
  q = q * t - 1.06777877e-1f;
  q = q * t - 6.34846687e-1f;
  q = q * t - 1.28717512e-1f;
  q = q * t - t;
  F p = s * -5.96761703e-4f + 4.99119423e-3f;
  p = p * s - 2.67681349e-2f;
  p = p * s + 1.12819925e-1f;
  p = p * s - 3.76125336e-1f;
  p = p * s + 1.28379166e-1f;
  const F large = M::copy_sign(1.0f - M::exp_negative(q), x);
  return t > 0.927734375f ? large : p * x + x;
}

// x tanh(log(1 + e)), e = exp(x), is x m / (m + 2) with m = e (e + 2); the quotient is 1 beyond 20.
template <class Vec>
INTARSIA_INLINE typename Vec::F mish_of(typename Vec::F x) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  const F e = M::exp(M::min(x, M::splat(20.0f)));
  const F m = e * (e + 2.0f);
  return x * (m / (m + 2.0f));
}

template <Isa I>
void VectorMath<I>::exp(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VecMath<Vec>::exp(v); });
}
template <Isa I>
void VectorMath<I>::log(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorLogarithm<Vec>::log(v); });
}
template <Isa I>
void VectorMath<I>::erf(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return erf_of<Vec>(v); });
}
template <Isa I>
void VectorMath<I>::sin(const float* x, float* y, int64_t n, const float*) {
  map_angles<I, Sine>(x, y, n);
}
template <Isa I>
void VectorMath<I>::cos(const float* x, float* y, int64_t n, const float*) {
  map_angles<I, Cosine>(x, y, n);
}
template <Isa I>
void VectorMath<I>::tan(const float* x, float* y, int64_t n, const float*) {
  map_angles<I, Tangent>(x, y, n);
}
template <Isa I>
void VectorMath<I>::asin(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorArc<Vec>::asin(v); });
}
template <Isa I>
void VectorMath<I>::acos(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorArc<Vec>::acos(v); });
}
template <Isa I>
void VectorMath<I>::atan(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorArc<Vec>::atan(v); });
}
template <Isa I>
void VectorMath<I>::sinh(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorHyperbolic<Vec>::sinh(v); });
}
template <Isa I>
void VectorMath<I>::cosh(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorHyperbolic<Vec>::cosh(v); });
}
template <Isa I>
void VectorMath<I>::tanh(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VecMath<Vec>::tanh(v); });
}
template <Isa I>
void VectorMath<I>::asinh(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorLogarithm<Vec>::asinh(v); });
}
template <Isa I>
void VectorMath<I>::acosh(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorLogarithm<Vec>::acosh(v); });
}
template <Isa I>
void VectorMath<I>::atanh(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VectorLogarithm<Vec>::atanh(v); });
}
template <Isa I>
void VectorMath<I>::sigmoid(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VecMath<Vec>::sigmoid(v); });
}
template <Isa I>
void VectorMath<I>::softplus(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VecMath<Vec>::softplus(v); });
}
template <Isa I>
void VectorMath<I>::gelu(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VecMath<Vec>::gelu(v); });
}
template <Isa I>
void VectorMath<I>::gelu_tanh(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return VecMath<Vec>::gelu_tanh(v); });
}
template <Isa I>
void VectorMath<I>::mish(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return mish_of<Vec>(v); });
}
template <Isa I>
void VectorMath<I>::hard_sigmoid(const float* x, float* y, int64_t n, const float* parameters) {
  using Vec = IsaVector<I>;
  using M = VecMath<Vec>;
  const float alpha = parameters[0], beta = parameters[1];
  const auto zero = M::splat(0), one = M::splat(1);
  map_vectors<Vec>(x, y, n,
                   [=](typename Vec::F v) { return M::min(M::max(v * alpha + beta, zero), one); });
}
template <Isa I>
void VectorMath<I>::hard_swish(const float* x, float* y, int64_t n, const float*) {
  using Vec = IsaVector<I>;
  using M = VecMath<Vec>;
  const auto zero = M::splat(0), one = M::splat(1);
  map_vectors<Vec>(x, y, n, [=](typename Vec::F v) {
    return v * M::min(M::max(v * 0.166666667f + 0.5f, zero), one);
  });
}
template <Isa I>
void VectorMath<I>::silu(const float* x, float* y, int64_t n, const float* parameters) {
  using Vec = IsaVector<I>;
  const float alpha = parameters[0];
  map_vectors<Vec>(x, y, n,
                   [=](typename Vec::F v) { return v * VecMath<Vec>::sigmoid(v * alpha); });
}
template <Isa I>
void VectorMath<I>::elu(const float* x, float* y, int64_t n, const float* parameters) {
  using Vec = IsaVector<I>;
  const float alpha = parameters[0];
  map_vectors<Vec>(
      x, y, n, [=](typename Vec::F v) { return v < 0.0f ? VecMath<Vec>::expm1(v) * alpha : v; });
}
template <Isa I>
void VectorMath<I>::celu(const float* x, float* y, int64_t n, const float* parameters) {
  using Vec = IsaVector<I>;
  const float alpha = parameters[0];
  map_vectors<Vec>(x, y, n, [=](typename Vec::F v) {
    return v > 0.0f ? v : VecMath<Vec>::expm1(v / alpha) * alpha;
  });
}
template <Isa I>
void VectorMath<I>::selu(const float* x, float* y, int64_t n, const float* parameters) {
  using Vec = IsaVector<I>;
  const float alpha = parameters[0];
  const float gamma = parameters[1];
  map_vectors<Vec>(x, y, n, [=](typename Vec::F v) {
    return (v > 0.0f ? v : VecMath<Vec>::expm1(v) * alpha) * gamma;
  });
}
template <Isa I>
void VectorMath<I>::pow(const float* x, const float* y, float* z, int64_t n) {
  map_powers<I>(x, y, z, n);
}
template <Isa I>
float VectorMath<I>::exp_sum(const float* x, float* y, int64_t n, float shift) {
  return y != nullptr ? exp_sum_of<IsaVector<I>, true>(x, y, n, shift)
                      : exp_sum_of<IsaVector<I>, false>(x, y, n, shift);
}
template <Isa I>
float VectorMath<I>::largest(const float* x, int64_t n) {
  return largest_of<IsaVector<I>>(x, n);
}
template <Isa I>
void VectorMath<I>::softmax(const float* x, float* y, int64_t rows, int64_t n) {
  softmax_rows<IsaVector<I>, false>(x, y, rows, n);
}
template <Isa I>
void VectorMath<I>::log_softmax(const float* x, float* y, int64_t rows, int64_t n) {
  softmax_rows<IsaVector<I>, true>(x, y, rows, n);
}

}  // namespace intarsia::cpu
