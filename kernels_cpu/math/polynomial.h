// SPDX-License-Identifier: Apache-2.0
//
// Polynomials on numbers and on vectors of them.
#pragma once

#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

template <class V, class C>
INTARSIA_INLINE V polynomial(V x, C constant, C factor) {
  return x * factor + constant;
}
/// constant + x (next + x (...)), coefficients in the order of their powers.
template <class V, class C, class... More>
INTARSIA_INLINE V polynomial(V x, C constant, C next, More... more) {
  return polynomial(x, next, more...) * x + constant;
}

}  // namespace intarsia::cpu
