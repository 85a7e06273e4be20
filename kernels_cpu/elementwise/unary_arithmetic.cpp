// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, rounding and predicates: Abs Neg Sign Reciprocal Sqrt Ceil Floor Round IsInf IsNaN
// Not BitwiseNot. Round takes ties to even (the processor's default mode). The most negative
// integer is its own Abs and Neg. Sign(NaN) is NaN.
#include <cmath>

#include "kernels_cpu/elementwise/unary_run.h"

namespace intarsia::cpu {

template <class V>
V evaluate(AbsOp, V x, const NoAttributes&) {
  if constexpr (std::is_floating_point_v<V>) {
    return std::fabs(x);
  } else if constexpr (std::is_unsigned_v<V>) {
    return x;
  } else {
    return x < 0 ? static_cast<V>(Wide<V>{0} - static_cast<Wide<V>>(x)) : x;
  }
}

template <class V>
V evaluate(NegOp, V x, const NoAttributes&) {
  if constexpr (std::is_floating_point_v<V>) {
    return -x;
  } else {
    return static_cast<V>(Wide<V>{0} - static_cast<Wide<V>>(x));
  }
}

template <class V>
V evaluate(SignOp, V x, const NoAttributes&) {
  const V sign = static_cast<V>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
  return x == x ? sign : x;
}

template <class V>
V evaluate(ReciprocalOp, V x, const NoAttributes&) {
  return V{1} / x;
}

template <class V>
V evaluate(SqrtOp, V x, const NoAttributes&) {
  return std::sqrt(x);
}

template <class V>
V evaluate(CeilOp, V x, const NoAttributes&) {
  return std::ceil(x);
}

template <class V>
V evaluate(FloorOp, V x, const NoAttributes&) {
  return std::floor(x);
}

template <class V>
V evaluate(RoundOp, V x, const NoAttributes&) {
  return std::nearbyint(x);
}

template <class V>
bool evaluate(IsInfOp, V x, const IsInfAttributes& attributes) {
  constexpr V kInfinity = std::numeric_limits<V>::infinity();
  return (attributes.detect_positive != 0 && x == kInfinity) ||
         (attributes.detect_negative != 0 && x == -kInfinity);
}

template <class V>
bool evaluate(IsNaNOp, V x, const NoAttributes&) {
  return x != x;
}

inline bool evaluate(NotOp, bool x, const NoAttributes&) {
  return !x;
}

template <class V>
V evaluate(BitwiseNotOp, V x, const NoAttributes&) {
  return static_cast<V>(~x);
}

INTARSIA_UNARY_FLOATS(AbsOp);
INTARSIA_UNARY_SIGNED(AbsOp);
INTARSIA_UNARY_UNSIGNED(AbsOp);
INTARSIA_UNARY_FLOATS(NegOp);
INTARSIA_UNARY_SIGNED(NegOp);
INTARSIA_UNARY_FLOATS(SignOp);
INTARSIA_UNARY_SIGNED(SignOp);
INTARSIA_UNARY_UNSIGNED(SignOp);
INTARSIA_UNARY_FLOATS(ReciprocalOp);
INTARSIA_UNARY_FLOATS(SqrtOp);
INTARSIA_UNARY_FLOATS(CeilOp);
INTARSIA_UNARY_FLOATS(FloorOp);
INTARSIA_UNARY_FLOATS(RoundOp);
INTARSIA_UNARY_FLOATS(IsInfOp);
INTARSIA_UNARY_FLOATS(IsNaNOp);
template struct Unary<NotOp, bool>;
INTARSIA_UNARY_SIGNED(BitwiseNotOp);
INTARSIA_UNARY_UNSIGNED(BitwiseNotOp);

}  // namespace intarsia::cpu
