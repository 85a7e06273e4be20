// SPDX-License-Identifier: Apache-2.0
//
// BitwiseAnd BitwiseOr BitwiseXor BitShift. A shift by a negative amount, or by the width of the
// type or more, leaves what shifting step by step would: 0, or -1 where a negative number moves
// right.
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

template <class V>
V evaluate(BitwiseAndOp, V x, V y, const NoAttributes&) {
  return static_cast<V>(x & y);
}
template <class V>
V evaluate(BitwiseOrOp, V x, V y, const NoAttributes&) {
  return static_cast<V>(x | y);
}
template <class V>
V evaluate(BitwiseXorOp, V x, V y, const NoAttributes&) {
  return static_cast<V>(x ^ y);
}
template <class V>
V evaluate(BitShiftOp, V x, V amount, const BitShiftAttributes& attributes) {
  constexpr auto kBits = static_cast<std::make_unsigned_t<V>>(sizeof(V) * 8);
  const bool right = attributes.direction == BitShiftAttributes::kRight;
  if (static_cast<std::make_unsigned_t<V>>(amount) >= kBits) {
    return static_cast<V>(right && x < 0 ? -1 : 0);
  }
  return right ? static_cast<V>(x >> amount) : static_cast<V>(static_cast<Wide<V>>(x) << amount);
}

INTARSIA_INSTANTIATE_INTEGERS(Binary, BitwiseAndOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, BitwiseOrOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, BitwiseXorOp);
INTARSIA_INSTANTIATE_INTEGERS(Binary, BitShiftOp);

}  // namespace intarsia::cpu
