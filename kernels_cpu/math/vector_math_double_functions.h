// SPDX-License-Identifier: Apache-2.0
//
// The members of VectorMathDouble as templates over an instruction set, in sources of their own:
// programs without doubles link none of their constants. Included by vector_math_double_<isa>.cpp
// only.
#pragma once

#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/math/vector_angle_double.h"
#include "kernels_cpu/math/vector_math.h"
#include "kernels_cpu/math/vector_softmax.h"

namespace intarsia::cpu {

template <Isa I>
void VectorMathDouble<I>::exp(const double* x, double* y, int64_t n, const float*) {
  using Math = DoubleMath<kDoubles<I>>;
  map_doubles<kDoubles<I>>(x, y, n, [](typename Math::D v) { return Math::exp(v); });
}
template <Isa I>
void VectorMathDouble<I>::log(const double* x, double* y, int64_t n, const float*) {
  using Math = DoubleMath<kDoubles<I>>;
  map_doubles<kDoubles<I>>(x, y, n, [](typename Math::D v) { return Math::log(v); });
}
template <Isa I>
void VectorMathDouble<I>::sin(const double* x, double* y, int64_t n, const float*) {
  map_double_angles<I, Sine>(x, y, n);
}
template <Isa I>
void VectorMathDouble<I>::cos(const double* x, double* y, int64_t n, const float*) {
  map_double_angles<I, Cosine>(x, y, n);
}
template <Isa I>
void VectorMathDouble<I>::tan(const double* x, double* y, int64_t n, const float*) {
  map_double_angles<I, Tangent>(x, y, n);
}
template <Isa I>
void VectorMathDouble<I>::sigmoid(const double* x, double* y, int64_t n, const float*) {
  using Math = DoubleMath<kDoubles<I>>;
  map_doubles<kDoubles<I>>(x, y, n, [](typename Math::D v) { return Math::sigmoid(v); });
}
template <Isa I>
void VectorMathDouble<I>::tanh(const double* x, double* y, int64_t n, const float*) {
  using Math = DoubleMath<kDoubles<I>>;
  map_doubles<kDoubles<I>>(x, y, n, [](typename Math::D v) { return Math::tanh(v); });
}
template <Isa I>
void VectorMathDouble<I>::softmax(const double* x, double* y, int64_t rows, int64_t n) {
  softmax_double_rows<kDoubles<I>, false>(x, y, rows, n);
}
template <Isa I>
void VectorMathDouble<I>::log_softmax(const double* x, double* y, int64_t rows, int64_t n) {
  softmax_double_rows<kDoubles<I>, true>(x, y, rows, n);
}

}  // namespace intarsia::cpu
