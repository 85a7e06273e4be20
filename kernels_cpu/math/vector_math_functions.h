// SPDX-License-Identifier: Apache-2.0
//
// The members of `VectorMath<I>`, for the file of instruction set I that instantiates them.
#pragma once

#include <limits>

#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/math/vector_math.h"

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
  const F large = M::copy_sign(1.0f - M::exp(q), x);
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

template <class Vec>
INTARSIA_INLINE float exp_sum_of(const float* x, float* y, int64_t n, float shift) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  constexpr int kWidth = Vec::kWidth;
  F sums = M::splat(0.0f);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const F e = M::exp(Vec::load(x + i) - shift);
    Vec::store(y + i, e);
    sums = sums + e;
  }
  float sum = 0;
  for (int lane = 0; lane < kWidth; ++lane) sum += Vec::lane(sums, lane);
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    Vec::store_part(y + i, M::exp(Vec::load_part(x + i, rest) - shift), rest);
    for (; i < n; ++i) sum += y[i];
  }
  return sum;
}

template <class Vec>
INTARSIA_INLINE float largest_of(const float* x, int64_t n) {
  using F = typename Vec::F;
  float largest = -std::numeric_limits<float>::infinity();
  F lanes = VecMath<Vec>::splat(largest);
  int64_t i = 0;
  for (; i + Vec::kWidth <= n; i += Vec::kWidth) {
    const F v = Vec::load(x + i);
    lanes = v > lanes ? v : lanes;
  }
  for (int lane = 0; lane < Vec::kWidth; ++lane) {
    if (Vec::lane(lanes, lane) > largest) largest = Vec::lane(lanes, lane);
  }
  for (; i < n; ++i) {
    if (x[i] > largest) largest = x[i];
  }
  return largest;
}

template <Isa I>
void VectorMath<I>::exp(const float* x, float* y, int64_t n, float) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(x, y, n, [](typename M::F v) { return M::exp(v); });
}
template <Isa I>
void VectorMath<I>::sigmoid(const float* x, float* y, int64_t n, float) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(x, y, n, [](typename M::F v) { return M::sigmoid(v); });
}
template <Isa I>
void VectorMath<I>::tanh(const float* x, float* y, int64_t n, float) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(x, y, n, [](typename M::F v) { return M::tanh(v); });
}
template <Isa I>
void VectorMath<I>::softplus(const float* x, float* y, int64_t n, float) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(x, y, n, [](typename M::F v) { return M::softplus(v); });
}
template <Isa I>
void VectorMath<I>::gelu(const float* x, float* y, int64_t n, float) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(x, y, n, [](typename M::F v) { return M::gelu(v); });
}
template <Isa I>
void VectorMath<I>::gelu_tanh(const float* x, float* y, int64_t n, float) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(x, y, n, [](typename M::F v) { return M::gelu_tanh(v); });
}
template <Isa I>
void VectorMath<I>::erf(const float* x, float* y, int64_t n, float) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return erf_of<Vec>(v); });
}
template <Isa I>
void VectorMath<I>::mish(const float* x, float* y, int64_t n, float) {
  using Vec = IsaVector<I>;
  map_vectors<Vec>(x, y, n, [](typename Vec::F v) { return mish_of<Vec>(v); });
}
template <Isa I>
void VectorMath<I>::silu(const float* x, float* y, int64_t n, float parameter) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(x, y, n,
                            [=](typename M::F v) { return v * M::sigmoid(v * parameter); });
}
template <Isa I>
void VectorMath<I>::elu(const float* x, float* y, int64_t n, float parameter) {
  using M = VecMath<IsaVector<I>>;
  map_vectors<IsaVector<I>>(
      x, y, n, [=](typename M::F v) { return v < 0.0f ? M::expm1(v) * parameter : v; });
}
template <Isa I>
float VectorMath<I>::exp_sum(const float* x, float* y, int64_t n, float shift) {
  return exp_sum_of<IsaVector<I>>(x, y, n, shift);
}
template <Isa I>
float VectorMath<I>::largest(const float* x, int64_t n) {
  return largest_of<IsaVector<I>>(x, n);
}

}  // namespace intarsia::cpu
