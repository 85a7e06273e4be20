// SPDX-License-Identifier: Apache-2.0
//
// Numbers as integers of a quantised type.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/small_element.h"

namespace intarsia::cpu {

/// The integers that a quantised type has.
template <class Y>
inline constexpr int kLowest = std::numeric_limits<Y>::lowest();
template <class Y>
inline constexpr int kHighest = std::numeric_limits<Y>::max();
template <DataType type>
inline constexpr int kLowest<Small<type>> = type == DataType::kInt4
                                                ? -8
                                                : (type == DataType::kInt2 ? -2 : 0);
template <DataType type>
inline constexpr int kHighest<Small<type>> = kLowest<Small<type>> + (1 << element_bits(type)) - 1;

/// The nearest integer, ties to even, of a number that `kReach` bounds; NaN becomes -kReach.
inline double nearest(double value) {
  constexpr double kReach = 1 << 20;
  constexpr double kLastPlaceOne = 0x1.8p52;  // so that the addition rounds
  value = value > -kReach ? value : -kReach;
  value = value < kReach ? value : kReach;
  return (value + kLastPlaceOne) - kLastPlaceOne;
}

/// The nearest integer of `quotient`, ties to even, and the zero point, in the range of Y; NaN
/// becomes its lowest one.
template <class Y>
int32_t quantized(double quotient, double zero) {
  constexpr double kLow = kLowest<Y>, kHigh = kHighest<Y>;
  double value = nearest(quotient) + zero;
  value = value > kLow ? value : kLow;
  value = value < kHigh ? value : kHigh;
  return static_cast<int32_t>(value);
}

/// To a float of this size the nearest integer is added by rounding, to its bits as well: they grow
/// with the number, so that integers can be compared in place of floats.
inline constexpr float kAnchor = 0x1.8p23f;
inline constexpr int32_t kAnchorBits = 0x4b400000;

/// The same of floats; what NaN becomes depends on its sign.
template <class Y>
int32_t quantized_number(float quotient, int32_t zero) {
  const int32_t low = kAnchorBits + kLowest<Y> - zero, high = kAnchorBits + kHighest<Y> - zero;
  int32_t bits = std::bit_cast<int32_t>(quotient + kAnchor);
  bits = bits > low ? bits : low;
  bits = bits < high ? bits : high;
  return bits - kAnchorBits + zero;
}
/// The same; NaN becomes the lowest one. Bounds are integers, so that numbers can be held between
/// them before they are rounded.
template <class Y>
int32_t quantized(float quotient, float zero) {
  const float low = static_cast<float>(kLowest<Y>) - zero;
  const float high = static_cast<float>(kHighest<Y>) - zero;
  float number = quotient > low ? quotient : low;
  number = number < high ? number : high;
  return std::bit_cast<int32_t>(number + kAnchor) - kAnchorBits + static_cast<int32_t>(zero);
}

/// The last eight bits of an anchored number, the sum of an integer and kAnchor, held within the
/// range of the type: they are the integer's. Numbers below the anchor make the bits less, in both
/// senses; NaN becomes the lowest or the highest integer.
template <class Y>
INTARSIA_INLINE uint32_t anchored_byte(float number) {
  static_assert(sizeof(Y) == 1);
  constexpr int32_t kLow = kAnchorBits + kLowest<Y>, kHigh = kAnchorBits + kHighest<Y>;
  auto bits = std::bit_cast<int32_t>(number);
  bits = bits > kLow ? bits : kLow;
  bits = bits < kHigh ? bits : kHigh;
  return static_cast<uint32_t>(bits);
}

/// to[i] = from[i]. A function of its own: bytes may alias whatever a closure refers to.
template <class Y>
INTARSIA_INLINE void narrow(const int32_t* from, int64_t count, Y* to) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Y>(from[i]);
}

}  // namespace intarsia::cpu
