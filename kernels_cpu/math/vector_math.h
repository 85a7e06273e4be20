// SPDX-License-Identifier: Apache-2.0
//
// Functions over arrays of floats and of doubles, on the vectors of one instruction set.
//
// Every element goes through the same code wherever it lies, so results do not depend on how an
// array is split; they differ between instruction sets by the rounding of fused multiply-adds.
// Errors against the exact result, tested: within 4 units in the last place (exp_sum also rounds
// its argument; tanh 7; gelu_tanh and gelu 1e-6 relative) wherever the result is a normal number.
// NaN gives NaN, and so does what lies outside a function's domain. x and y may be the same array.
#pragma once

#include <cstdint>

#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// y[i] = f(x[i]) for i in [0, n); `parameters` are those that f names, null for most.
using VectorMap = void (*)(const float* x, float* y, int64_t n, const float* parameters);

template <Isa I>
struct VectorMath {
  static void exp(const float* x, float* y, int64_t n, const float*);
  static void log(const float* x, float* y, int64_t n, const float*);
  static void erf(const float* x, float* y, int64_t n, const float*);

  static void sin(const float* x, float* y, int64_t n, const float*);
  static void cos(const float* x, float* y, int64_t n, const float*);
  static void tan(const float* x, float* y, int64_t n, const float*);
  static void asin(const float* x, float* y, int64_t n, const float*);
  static void acos(const float* x, float* y, int64_t n, const float*);
  static void atan(const float* x, float* y, int64_t n, const float*);
  static void sinh(const float* x, float* y, int64_t n, const float*);
  static void cosh(const float* x, float* y, int64_t n, const float*);
  static void tanh(const float* x, float* y, int64_t n, const float*);
  static void asinh(const float* x, float* y, int64_t n, const float*);
  static void acosh(const float* x, float* y, int64_t n, const float*);
  static void atanh(const float* x, float* y, int64_t n, const float*);

  static void sigmoid(const float* x, float* y, int64_t n, const float*);
  static void softplus(const float* x, float* y, int64_t n, const float*);
  static void gelu(const float* x, float* y, int64_t n, const float*);
  static void gelu_tanh(const float* x, float* y, int64_t n, const float*);
  static void mish(const float* x, float* y, int64_t n, const float*);
  /// alpha * x + beta, limited to [0, 1]; parameters: alpha, beta.
  static void hard_sigmoid(const float* x, float* y, int64_t n, const float* parameters);
  /// x times that with 1/6 and 1/2.
  static void hard_swish(const float* x, float* y, int64_t n, const float*);
  /// x * sigmoid(alpha * x); parameters: alpha.
  static void silu(const float* x, float* y, int64_t n, const float* parameters);
  /// x < 0 ? alpha * expm1(x) : x; parameters: alpha.
  static void elu(const float* x, float* y, int64_t n, const float* parameters);
  /// x > 0 ? x : alpha * expm1(x / alpha); parameters: alpha, which is not 0.
  static void celu(const float* x, float* y, int64_t n, const float* parameters);
  /// gamma * (x > 0 ? x : alpha * expm1(x)); parameters: alpha, gamma.
  static void selu(const float* x, float* y, int64_t n, const float* parameters);

  /// z[i] = x[i] to the power y[i], with C's special cases; z may be x or y.
  static void pow(const float* x, const float* y, float* z, int64_t n);

  /// y[i] = exp(x[i] - shift), 0 where that would be subnormal; returns their sum. REQUIRES: no
  /// x[i] is above `shift`. Where y is null, nothing is stored.
  static float exp_sum(const float* x, float* y, int64_t n, float shift);
  /// The largest x[i] that is not NaN; minus infinity if there is none.
  static float largest(const float* x, int64_t n);

  /// Softmax and LogSoftmax of `rows` rows of n neighbours, one after another. REQUIRES: n > 0.
  static void softmax(const float* x, float* y, int64_t rows, int64_t n);
  static void log_softmax(const float* x, float* y, int64_t rows, int64_t n);
};

/// The same in double precision.
using VectorMapDouble = void (*)(const double* x, double* y, int64_t n, const float* parameters);

template <Isa I>
struct VectorMathDouble {
  static void exp(const double* x, double* y, int64_t n, const float*);
  static void log(const double* x, double* y, int64_t n, const float*);
  static void sin(const double* x, double* y, int64_t n, const float*);
  static void cos(const double* x, double* y, int64_t n, const float*);
  static void tan(const double* x, double* y, int64_t n, const float*);
  static void sigmoid(const double* x, double* y, int64_t n, const float*);
  static void tanh(const double* x, double* y, int64_t n, const float*);

  static void softmax(const double* x, double* y, int64_t rows, int64_t n);
  static void log_softmax(const double* x, double* y, int64_t rows, int64_t n);
};

/// pick(VectorMath<I>()) for the best instruction set I of this build that is not above `isa`.
template <class Pick>
auto pick_vector_math(Isa isa, const Pick& pick) {
  return pick_isa(isa,
                  [&](auto constant) { return pick(VectorMath<decltype(constant)::value>()); });
}

/// pick(VectorMathDouble<I>()), likewise.
template <class Pick>
auto pick_vector_math_double(Isa isa, const Pick& pick) {
  return pick_isa(
      isa, [&](auto constant) { return pick(VectorMathDouble<decltype(constant)::value>()); });
}

}  // namespace intarsia::cpu
