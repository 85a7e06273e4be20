// SPDX-License-Identifier: Apache-2.0
//
// sinh and cosh on the vectors of vector.h.
#pragma once

#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/math/polynomial.h"

namespace intarsia::cpu {

template <class Vec>
struct VectorHyperbolic {
  using M = VecMath<Vec>;
  using F = typename Vec::F;

  /// exp(x) / 2, infinite only where that is.
  INTARSIA_INLINE static F half_exp(F x) {
    F n;
    const F p = M::reduce(x, n);
    return Vec::scale(p + 1.0f, n - 1.0f);
  }

  /// x + x^3 P(x^2) up to 1 (minimax polynomial, error 6e-11).
  INTARSIA_INLINE static F sinh(F x) {
    const F a = M::abs(x);
    const F e = half_exp(a);
    const F z = a * a;
    const F small =
        a + a * z * polynomial(z, 0.166666665f, 0.0083333506f, 0.000198360663f, 2.81743951e-06f);
    return M::copy_sign(a > 1.0f ? e - 0.25f / e : small, x);
  }
  INTARSIA_INLINE static F cosh(F x) {
    const F e = half_exp(M::abs(x));
    return e + 0.25f / e;
  }
};

}  // namespace intarsia::cpu
