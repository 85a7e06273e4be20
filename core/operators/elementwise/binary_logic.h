// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, the logical operators and those of bits. Comparisons with NaN are false. A shift by
// a negative amount, or by the width of the type or more, leaves what shifting step by step would:
// 0, or -1 where a negative number moves right.
#pragma once

#include "core/operators/common/integers.h"
#include "core/operators/elementwise/operator.h"

namespace intarsia {

struct EqualOp : Predicate<> {
  static constexpr std::string_view name = "Equal";
  template <class V>
  INTARSIA_HOST_DEVICE static bool apply(V x, V y, const NoAttributes&) {
    return x == y;
  }
};

struct LessOp : Predicate<> {
  static constexpr std::string_view name = "Less";
  template <class V>
  INTARSIA_HOST_DEVICE static bool apply(V x, V y, const NoAttributes&) {
    return x < y;
  }
};

struct LessOrEqualOp : Predicate<> {
  static constexpr std::string_view name = "LessOrEqual";
  template <class V>
  INTARSIA_HOST_DEVICE static bool apply(V x, V y, const NoAttributes&) {
    return x <= y;
  }
};

struct GreaterOp : Predicate<> {
  static constexpr std::string_view name = "Greater";
  template <class V>
  INTARSIA_HOST_DEVICE static bool apply(V x, V y, const NoAttributes&) {
    return x > y;
  }
};

struct GreaterOrEqualOp : Predicate<> {
  static constexpr std::string_view name = "GreaterOrEqual";
  template <class V>
  INTARSIA_HOST_DEVICE static bool apply(V x, V y, const NoAttributes&) {
    return x >= y;
  }
};

// Bitwise operators on bool evaluate both sides, which lets loops become vector code.
struct AndOp : Predicate<> {
  static constexpr std::string_view name = "And";
  INTARSIA_HOST_DEVICE static bool apply(bool x, bool y, const NoAttributes&) {
    return (x & y) != 0;
  }
};

struct OrOp : Predicate<> {
  static constexpr std::string_view name = "Or";
  INTARSIA_HOST_DEVICE static bool apply(bool x, bool y, const NoAttributes&) {
    return (x | y) != 0;
  }
};

struct XorOp : Predicate<> {
  static constexpr std::string_view name = "Xor";
  INTARSIA_HOST_DEVICE static bool apply(bool x, bool y, const NoAttributes&) { return x != y; }
};

struct BitwiseAndOp : Elementwise<> {
  static constexpr std::string_view name = "BitwiseAnd";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return static_cast<V>(x & y);
  }
};

struct BitwiseOrOp : Elementwise<> {
  static constexpr std::string_view name = "BitwiseOr";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return static_cast<V>(x | y);
  }
};

struct BitwiseXorOp : Elementwise<> {
  static constexpr std::string_view name = "BitwiseXor";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V y, const NoAttributes&) {
    return static_cast<V>(x ^ y);
  }
};

struct BitShiftOp : Elementwise<BitShiftAttributes> {
  static constexpr std::string_view name = "BitShift";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V amount, const BitShiftAttributes& attributes) {
    constexpr auto kBits = static_cast<std::make_unsigned_t<V>>(sizeof(V) * 8);
    const bool right = attributes.direction == BitShiftAttributes::kRight;
    if (static_cast<std::make_unsigned_t<V>>(amount) >= kBits) {
      return static_cast<V>(right && x < 0 ? -1 : 0);
    }
    return right ? static_cast<V>(x >> amount) : static_cast<V>(static_cast<Wide<V>>(x) << amount);
  }
};

}  // namespace intarsia
