// SPDX-License-Identifier: Apache-2.0
//
// The functions of <cmath>: exponential, logarithm, error function, trigonometric and hyperbolic
// functions and their inverses, in the precision of the element type (16-bit types: float).
#include <cmath>

#include "kernels_cpu/elementwise/unary_run.h"

namespace intarsia::cpu {

template <class V>
V evaluate(ExpOp, V x, const NoAttributes&) {
  return std::exp(x);
}
template <class V>
V evaluate(LogOp, V x, const NoAttributes&) {
  return std::log(x);
}
template <class V>
V evaluate(ErfOp, V x, const NoAttributes&) {
  return std::erf(x);
}
template <class V>
V evaluate(SinOp, V x, const NoAttributes&) {
  return std::sin(x);
}
template <class V>
V evaluate(CosOp, V x, const NoAttributes&) {
  return std::cos(x);
}
template <class V>
V evaluate(TanOp, V x, const NoAttributes&) {
  return std::tan(x);
}
template <class V>
V evaluate(AsinOp, V x, const NoAttributes&) {
  return std::asin(x);
}
template <class V>
V evaluate(AcosOp, V x, const NoAttributes&) {
  return std::acos(x);
}
template <class V>
V evaluate(AtanOp, V x, const NoAttributes&) {
  return std::atan(x);
}
template <class V>
V evaluate(SinhOp, V x, const NoAttributes&) {
  return std::sinh(x);
}
template <class V>
V evaluate(CoshOp, V x, const NoAttributes&) {
  return std::cosh(x);
}
template <class V>
V evaluate(TanhOp, V x, const NoAttributes&) {
  return std::tanh(x);
}
template <class V>
V evaluate(AsinhOp, V x, const NoAttributes&) {
  return std::asinh(x);
}
template <class V>
V evaluate(AcoshOp, V x, const NoAttributes&) {
  return std::acosh(x);
}
template <class V>
V evaluate(AtanhOp, V x, const NoAttributes&) {
  return std::atanh(x);
}

INTARSIA_UNARY_FLOATS(ExpOp);
INTARSIA_UNARY_FLOATS(LogOp);
INTARSIA_UNARY_FLOATS(ErfOp);
INTARSIA_UNARY_FLOATS(SinOp);
INTARSIA_UNARY_FLOATS(CosOp);
INTARSIA_UNARY_FLOATS(TanOp);
INTARSIA_UNARY_FLOATS(AsinOp);
INTARSIA_UNARY_FLOATS(AcosOp);
INTARSIA_UNARY_FLOATS(AtanOp);
INTARSIA_UNARY_FLOATS(SinhOp);
INTARSIA_UNARY_FLOATS(CoshOp);
INTARSIA_UNARY_FLOATS(TanhOp);
INTARSIA_UNARY_FLOATS(AsinhOp);
INTARSIA_UNARY_FLOATS(AcoshOp);
INTARSIA_UNARY_FLOATS(AtanhOp);

}  // namespace intarsia::cpu
