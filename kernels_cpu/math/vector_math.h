// SPDX-License-Identifier: Apache-2.0
//
// f32 functions over arrays, on the vectors of one instruction set.
//
// Every element goes through the same code wherever it lies, so results do not depend on how an
// array is split; they differ between instruction sets by the rounding of fused multiply-adds.
// Errors against the exact result, tested: exp, sigmoid, tanh, erf, softplus, elu, silu, mish
// within 4 units in the last place (1e-6 relative; exp_sum also rounds its argument), gelu_tanh and
// gelu 1e-6 relative wherever the result is a normal number. NaN gives NaN. x and y may be the same
// array.
#pragma once

#include <cstdint>

#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// y[i] = f(x[i], parameter) for i in [0, n).
using VectorMap = void (*)(const float* x, float* y, int64_t n, float parameter);

template <Isa I>
struct VectorMath {
  static void exp(const float* x, float* y, int64_t n, float parameter);
  static void sigmoid(const float* x, float* y, int64_t n, float parameter);
  static void tanh(const float* x, float* y, int64_t n, float parameter);
  static void erf(const float* x, float* y, int64_t n, float parameter);
  static void softplus(const float* x, float* y, int64_t n, float parameter);
  static void gelu(const float* x, float* y, int64_t n, float parameter);
  static void gelu_tanh(const float* x, float* y, int64_t n, float parameter);
  static void mish(const float* x, float* y, int64_t n, float parameter);
  /// x * sigmoid(parameter * x)
  static void silu(const float* x, float* y, int64_t n, float parameter);
  /// x < 0 ? parameter * expm1(x) : x
  static void elu(const float* x, float* y, int64_t n, float parameter);

  /// y[i] = exp(x[i] - shift); returns their sum.
  static float exp_sum(const float* x, float* y, int64_t n, float shift);
  /// The largest x[i] that is not NaN; minus infinity if there is none.
  static float largest(const float* x, int64_t n);
};

/// pick(VectorMath<I>()) for the best instruction set I of this build that is not above `isa`.
template <class Pick>
auto pick_vector_math(Isa isa, const Pick& pick) {
  return pick_isa(isa,
                  [&](auto constant) { return pick(VectorMath<decltype(constant)::value>()); });
}

}  // namespace intarsia::cpu
