// SPDX-License-Identifier: Apache-2.0
//
// `CheckedInt`: a 64-bit integer for sizes that come from outside the program.
//
// Extents, strides, pads and counts of a plan may be any numbers, and a product of three of them
// need not fit 64 bits. A size that wraps around is worse than one that is refused: a buffer would
// be proved large enough for nothing. So whatever is computed of them before they are proved to be
// sane (shape functions, checks, workspace and packed sizes) is computed in this type:
//
//     CheckedInt bytes = CheckedInt(rows) * columns * 4 + 63;
//     return check_workspace(context, bytes.value());
//
// A result that does not fit is `kBeyond` with the sign that it would have, and so is all that is
// computed from it: nothing brings it back into range. It is larger (or smaller) than every extent,
// so a comparison with a limit refuses it; `exact` tells.
//
// `run` uses plain integers: what it may rely on was proved before.
//
// A value type, any thread, no allocation. Numbers convert to it by themselves; the way back is
// `value()`, so that no arithmetic leaves the type by accident.
#pragma once

#include <cstdint>

namespace intarsia {

namespace internal {
// One function each, not inline: on 32-bit targets the code of one is longer than many calls.
int64_t checked_sum(int64_t a, int64_t b);
int64_t checked_product(int64_t a, int64_t b);
int64_t checked_quotient(int64_t a, int64_t b);
}  // namespace internal

class CheckedInt {
 public:
  /// What stands for every number that does not fit; its negative for those below zero.
  static constexpr int64_t kBeyond = INT64_MAX;

  constexpr CheckedInt() = default;
  constexpr CheckedInt(int64_t value) : value_(value) {}  // NOLINT: numbers are sizes

  /// The number, or +-kBeyond.
  constexpr int64_t value() const { return value_; }
  /// False if the number did not fit.
  constexpr bool exact() const { return value_ > -kBeyond && value_ < kBeyond; }

  friend CheckedInt operator+(CheckedInt a, CheckedInt b) {
    return internal::checked_sum(a.value_, b.value_);
  }
  friend CheckedInt operator-(CheckedInt a, CheckedInt b) { return a + -b; }
  friend CheckedInt operator*(CheckedInt a, CheckedInt b) {
    return internal::checked_product(a.value_, b.value_);
  }
  constexpr CheckedInt operator-() const { return value_ < -kBeyond ? kBeyond : -value_; }
  CheckedInt& operator+=(CheckedInt other) { return *this = *this + other; }
  CheckedInt& operator-=(CheckedInt other) { return *this = *this - other; }
  CheckedInt& operator*=(CheckedInt other) { return *this = *this * other; }
  // Spelled out: compilers of devices do not define what is defaulted.
  friend constexpr bool operator==(CheckedInt a, CheckedInt b) { return a.value_ == b.value_; }
  friend constexpr bool operator<(CheckedInt a, CheckedInt b) { return a.value_ < b.value_; }
  friend constexpr bool operator>(CheckedInt a, CheckedInt b) { return a.value_ > b.value_; }
  friend constexpr bool operator<=(CheckedInt a, CheckedInt b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(CheckedInt a, CheckedInt b) { return a.value_ >= b.value_; }

  // The rest of the arithmetic of shape functions (intarsia/shape.h).
  friend constexpr bool is_constant(CheckedInt) { return true; }
  friend constexpr int64_t constant_value(CheckedInt a) { return a.value_; }
  /// Quotient rounded towards minus infinity; 0 when the divisor is 0.
  friend CheckedInt floor_div(CheckedInt a, CheckedInt b) {
    return internal::checked_quotient(a.value_, b.value_);
  }
  friend CheckedInt ceil_div(CheckedInt a, CheckedInt b) { return -floor_div(-a, b); }
  friend constexpr CheckedInt dim_max(CheckedInt a, CheckedInt b) { return a > b ? a : b; }
  friend constexpr CheckedInt dim_min(CheckedInt a, CheckedInt b) { return a < b ? a : b; }

 private:
  int64_t value_ = 0;
};

}  // namespace intarsia
