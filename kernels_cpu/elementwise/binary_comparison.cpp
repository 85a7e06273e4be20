// SPDX-License-Identifier: Apache-2.0
//
// Equal Less LessOrEqual Greater GreaterOrEqual, and the logical And Or Xor. Comparisons with NaN
// are false.
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

template <class V>
bool evaluate(EqualOp, V x, V y, const NoAttributes&) {
  return x == y;
}
template <class V>
bool evaluate(LessOp, V x, V y, const NoAttributes&) {
  return x < y;
}
template <class V>
bool evaluate(LessOrEqualOp, V x, V y, const NoAttributes&) {
  return x <= y;
}
template <class V>
bool evaluate(GreaterOp, V x, V y, const NoAttributes&) {
  return x > y;
}
template <class V>
bool evaluate(GreaterOrEqualOp, V x, V y, const NoAttributes&) {
  return x >= y;
}

// Bitwise operators on bool evaluate both sides, which lets loops become vector code.
inline bool evaluate(AndOp, bool x, bool y, const NoAttributes&) {
  return (x & y) != 0;
}
inline bool evaluate(OrOp, bool x, bool y, const NoAttributes&) {
  return (x | y) != 0;
}
inline bool evaluate(XorOp, bool x, bool y, const NoAttributes&) {
  return x != y;
}

INTARSIA_INSTANTIATE_FLOATS(Binary, EqualOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, EqualOp);
template struct Binary<EqualOp, bool>;
INTARSIA_INSTANTIATE_FLOATS(Binary, LessOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, LessOp);
INTARSIA_INSTANTIATE_FLOATS(Binary, LessOrEqualOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, LessOrEqualOp);
INTARSIA_INSTANTIATE_FLOATS(Binary, GreaterOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, GreaterOp);
INTARSIA_INSTANTIATE_FLOATS(Binary, GreaterOrEqualOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, GreaterOrEqualOp);
template struct Binary<AndOp, bool>;
template struct Binary<OrOp, bool>;
template struct Binary<XorOp, bool>;

}  // namespace intarsia::cpu
