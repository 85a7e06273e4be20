// SPDX-License-Identifier: Apache-2.0
//
// Add Sub Mul Div PRelu. Integer division truncates towards zero; a zero divisor is an error, found
// before anything is written, and the most negative integer divided by -1 is itself.
#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

template <class V>
V evaluate(AddOp, V x, V y, const NoAttributes&) {
  return add_wrapped(x, y);
}
template <class V>
V evaluate(SubOp, V x, V y, const NoAttributes&) {
  return static_cast<V>(static_cast<Wide<V>>(x) - static_cast<Wide<V>>(y));
}
template <class V>
V evaluate(MulOp, V x, V y, const NoAttributes&) {
  return multiply_wrapped(x, y);
}
template <class V>
V evaluate(DivOp, V x, V y, const NoAttributes&) {
  if constexpr (std::is_signed_v<V> && std::is_integral_v<V>) {
    if (y == -1) return static_cast<V>(Wide<V>{0} - static_cast<Wide<V>>(x));
  }
  return static_cast<V>(x / y);
}
template <class V>
V evaluate(PReluOp, V x, V slope, const NoAttributes&) {
  if constexpr (std::is_unsigned_v<V>) {
    return x;
  } else {
    return x < 0 ? multiply_wrapped(x, slope) : x;
  }
}

template <class T>
requires std::is_integral_v<T> Status check_values(DivOp, const T* divisors, int64_t count,
                                                   const NoAttributes&,
                                                   const KernelContext& context) {
  for (int64_t i = 0; i < count; ++i) {
    if (divisors[i] == 0) return context.fail(Code::kDivisionByZero, "integer divisor", 0, i, 1);
  }
  return {};
}

// The slope is broadcast to the input, never the input to the slope.
template <class T>
Status check_operator(PReluOp, T, const NoAttributes&, const KernelContext& context) {
  return check_extents<ops::SameShape>(context);
}

INTARSIA_INSTANTIATE_FLOATS(Binary, AddOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, AddOp);
INTARSIA_INSTANTIATE_FLOATS(Binary, SubOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, SubOp);
INTARSIA_INSTANTIATE_FLOATS(Binary, MulOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, MulOp);
INTARSIA_INSTANTIATE_FLOATS(Binary, DivOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, DivOp);
INTARSIA_INSTANTIATE_FLOATS(Binary, PReluOp);
template struct Binary<PReluOp, int32_t>;
template struct Binary<PReluOp, int64_t>;
template struct Binary<PReluOp, uint32_t>;
template struct Binary<PReluOp, uint64_t>;

}  // namespace intarsia::cpu
