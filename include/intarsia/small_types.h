// SPDX-License-Identifier: Apache-2.0
//
// Element types that C++ lacks: floating-point numbers of 8, 6 and 4 bits, and integers of 4 and 2.
//
// Their elements are handled as *codes*, the bits of one element in an integer. A tensor of a whole
// byte per element holds a code in each; the others are packed, the first element in the low bits
// of the first byte, those of 6 bits across the borders of bytes. `packed_code` and
// `set_packed_code` read and write single elements of either kind:
//
//     const TensorView y = session.output(0);                       // float4e2m1, for example
//     for (int64_t i = 0; i < y.count(); ++i) {
//       const uint8_t code = packed_code(y.as<std::byte>(), i, element_bits(y.type));
//       use(decode_float(float_format(y.type), code));
//     }
//
// What the types are for, and what they hold:
//
//     float8e4m3fn     weights and activations; up to 448, steps of 1/8; NaN, no infinity
//     float8e4m3fnuz   the same with another bias; up to 240; one NaN, no -0
//     float8e5m2       gradients; up to 57,344, steps of 1/4; infinities and NaN
//     float8e5m2fnuz   the same with another bias; one NaN, no infinity, no -0
//     float8e8m0       scales of blocks: 2^-127 to 2^127, and NaN
//     float6e2m3       up to 7.5, steps of 1/8; finite numbers only
//     float6e3m2       up to 28, steps of 1/4; finite numbers only
//     float4e2m1       0, 0.5, 1, 1.5, 2, 3, 4, 6 of either sign
//     int4, uint4      -8 to 7, 0 to 15
//     int2, uint2      -2 to 1, 0 to 3
//
// No operator computes in them: Cast and DequantizeLinear turn them into numbers that do, Cast and
// QuantizeLinear make them of those, and what only moves elements takes them as they are.
//
// A floating-point format is described by the widths of its fields, its bias and what it has
// beside finite numbers. `decode_float` is exact. `encode_float` rounds once, to nearest, ties to
// even; what exceeds the largest number after rounding becomes that number (`saturate`), or
// infinity, or NaN where the format has no infinity. Formats without NaN, which saturate always,
// make -0 of it. float8e8m0 holds nothing but powers of two and one NaN, and has an encoder of its
// own.
//
// Pure functions: no state, any thread, no errors. They may be evaluated at compile time.
//
// Sources: ONNX, "Float stored in 8 bits", "Float stored in 4 bits" and the operator Cast; OCP
// Microscaling Formats (MX) 1.0; IEEE 754-2019 for the terms.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "intarsia/types.h"

namespace intarsia {

// -- Elements in memory
// Whoever walks a tensor of a packed type needs no more than these two. They are not fast: a kernel
// that reads whole bytes at once is. A tensor's bytes behind its last element are 0 where an
// operator has written them, and of no meaning.

/// The code of element `index` among elements of `bits` bits each. REQUIRES: bits is 2, 4, 6 or 8.
constexpr uint8_t packed_code(const std::byte* elements, int64_t index, int bits) {
  const int64_t bit = index * bits;
  const int shift = static_cast<int>(bit % 8);
  unsigned word = std::to_integer<unsigned>(elements[bit / 8]);
  if (shift + bits > 8) word |= std::to_integer<unsigned>(elements[bit / 8 + 1]) << 8;
  return static_cast<uint8_t>((word >> shift) & ((1u << bits) - 1));
}

/// Sets that element and leaves its neighbours, also those in the same byte: not for two threads at
/// once. Bits of `code` beyond the element's are dropped. REQUIRES: bits is 2, 4, 6 or 8.
constexpr void set_packed_code(std::byte* elements, int64_t index, int bits, uint8_t code) {
  const int64_t bit = index * bits;
  const int shift = static_cast<int>(bit % 8);
  const unsigned mask = ((1u << bits) - 1) << shift;
  const unsigned word = (static_cast<unsigned>(code) << shift) & mask;
  const auto set = [elements](int64_t at, unsigned clear, unsigned value) {
    const unsigned kept = std::to_integer<unsigned>(elements[at]) & ~clear;
    elements[at] = static_cast<std::byte>(kept | value);
  };
  set(bit / 8, mask & 0xff, word & 0xff);
  if (shift + bits > 8) set(bit / 8 + 1, mask >> 8, word >> 8);
}

/// The integer that a code of `bits` bits stands for.
constexpr int decode_integer(uint8_t code, int bits, bool is_signed) {
  const bool negative = is_signed && (code >> (bits - 1)) != 0;
  return negative ? code - (1 << bits) : code;
}

// -- Floating-point formats
// What a format lacks is a matter of its encoder: decoders accept every code that there is. Two
// codes may stand for the same number only as the two zeros do, so that encoding what a code stands
// for gives the code back, NaNs apart.

/// How a floating-point type of at most 8 bits with a sign stores its numbers.
struct FloatFormat {
  /// What it has beside finite numbers.
  enum Special : uint8_t {
    kNothing,       ///< Nothing.
    kNanAllOnes,    ///< NaN of either sign, all bits behind the sign set ("FN").
    kNanMinusZero,  ///< One NaN in the place of -0 ("FNUZ").
    kIeee,          ///< Infinities and NaNs, as IEEE 754 has them.
  };
  int8_t exponent = 0;  ///< Bits of the exponent; 0: no such type.
  int8_t mantissa = 0;  ///< Bits of the mantissa that are stored.
  int8_t bias = 0;
  Special special = kNothing;

  constexpr int bits() const { return 1 + exponent + mantissa; }
  constexpr uint32_t sign() const { return 1u << (exponent + mantissa); }
  /// The code of the largest finite number.
  constexpr uint32_t largest() const {
    const uint32_t ones = sign() - 1;
    if (special == kNanAllOnes) return ones - 1;
    return special == kIeee ? ones - (1u << mantissa) : ones;
  }
};

/// The format of `type`; one without exponent for types that have none: integers, float8e8m0, and
/// those that are wider.
constexpr FloatFormat float_format(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
      return {4, 3, 7, FloatFormat::kNanAllOnes};
    case DataType::kFloat8E4M3FNUZ:
      return {4, 3, 8, FloatFormat::kNanMinusZero};
    case DataType::kFloat8E5M2:
      return {5, 2, 15, FloatFormat::kIeee};
    case DataType::kFloat8E5M2FNUZ:
      return {5, 2, 16, FloatFormat::kNanMinusZero};
    case DataType::kFloat4E2M1:
      return {2, 1, 1, FloatFormat::kNothing};
    case DataType::kFloat6E2M3:
      return {2, 3, 1, FloatFormat::kNothing};
    case DataType::kFloat6E3M2:
      return {3, 2, 3, FloatFormat::kNothing};
    default:
      return {};
  }
}

namespace internal {

/// 2^exponent. REQUIRES: -126 <= exponent <= 127.
constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}
inline constexpr uint32_t kFloatInfinity = 0x7f800000u;
inline constexpr uint32_t kFloatNan = 0x7fc00000u;

}  // namespace internal

/// The number that `code` stands for. Exact. REQUIRES: format.exponent > 0.
constexpr float decode_float(const FloatFormat& format, uint8_t code) {
  const uint32_t magnitude = code & (format.sign() - 1);
  const bool negative = (code & format.sign()) != 0;
  const uint32_t sign = negative ? 0x80000000u : 0u;
  if (format.special == FloatFormat::kNanMinusZero) {
    if (negative && magnitude == 0) return std::bit_cast<float>(internal::kFloatNan);
  } else if (magnitude > format.largest()) {
    const bool infinite = format.special == FloatFormat::kIeee && magnitude == format.largest() + 1;
    return std::bit_cast<float>(sign | (infinite ? internal::kFloatInfinity : internal::kFloatNan));
  }
  const int exponent = static_cast<int>(magnitude >> format.mantissa);
  const uint32_t fraction = magnitude & ((1u << format.mantissa) - 1);
  const uint32_t whole = exponent == 0 ? fraction : fraction | (1u << format.mantissa);
  const int scale = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa;
  const float value = static_cast<float>(whole) * internal::power_of_two(scale);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

/// The code of the number that is nearest to `value`; see above for those that are too large.
/// REQUIRES: format.exponent > 0.
constexpr uint8_t encode_float(const FloatFormat& format, float value, bool saturate) {
  // Without branches, so that loops over elements become vectors.
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = word & 0x7fffffffu;
  const uint32_t sign = (word >> 31) * format.sign(), largest = format.largest();
  const bool is_ieee = format.special == FloatFormat::kIeee;
  const bool minus_zero = format.special != FloatFormat::kNanMinusZero;
  const uint32_t nan = format.special == FloatFormat::kNanAllOnes ? format.sign() - 1
                       : is_ieee                                  ? largest + 3
                                                                  : format.sign();
  saturate = saturate || format.special == FloatFormat::kNothing;
  const uint32_t beyond = saturate ? largest : is_ieee ? largest + 1 : nan;

  const int lowest = 1 - format.bias;  // exponent of the smallest normal number
  const uint32_t smallest = static_cast<uint32_t>(lowest + 127) << 23;
  // The sum's last place is the distance between subnormal numbers, so that the addition rounds.
  const float anchor = internal::power_of_two(lowest - format.mantissa + 23);
  const float tiny = std::bit_cast<float>(magnitude < smallest ? magnitude : smallest);
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(tiny + anchor) - std::bit_cast<uint32_t>(anchor);
  const int shift = 23 - format.mantissa;
  const uint32_t half = (1u << (shift - 1)) - 1 + ((magnitude >> shift) & 1u);
  const uint32_t normal =
      ((magnitude + half) >> shift) - (static_cast<uint32_t>(127 - format.bias) << format.mantissa);
  uint32_t code = magnitude < smallest ? subnormal : normal;
  code = code > largest ? beyond : code;
  code = magnitude > internal::kFloatInfinity ? nan : code;
  return static_cast<uint8_t>(code == 0 && !minus_zero ? 0 : sign | code);
}

// -- Powers of two
// The scales of microscaling formats: a block of elements shares one. They have no sign, and zero
// is none of them.

/// How float8e8m0 rounds what lies between two powers of two.
enum class PowerRounding : uint8_t { kUp, kDown, kNearest };

/// 2^(code - 127); NaN for 255.
constexpr float decode_power(uint8_t code) {
  if (code == 255) return std::bit_cast<float>(internal::kFloatNan);
  if (code == 0) return 0x1p-127f;
  return internal::power_of_two(code - 127);
}

/// The code of the power of two for the magnitude of `value`: signs are dropped. What is smaller
/// than 2^-127 or larger than 2^127, infinity too, becomes that (`saturate`) or NaN; so does 0.
constexpr uint8_t encode_power(float value, bool saturate, PowerRounding rounding) {
  constexpr uint8_t kNan = 255, kLargest = 254;
  const uint32_t word = std::bit_cast<uint32_t>(value) & 0x7fffffffu;
  if (word > internal::kFloatInfinity) return kNan;
  if (word == internal::kFloatInfinity) return saturate ? kLargest : kNan;
  constexpr uint32_t kSmallest = 0x00400000u;  // 2^-127, a subnormal float
  if (word < kSmallest) return saturate ? 0 : kNan;
  const bool normal = word >= 0x00800000u;
  const uint32_t fraction = normal ? word & 0x007fffffu : (word & 0x003fffffu) << 1;
  uint32_t code = word >> 23;
  const bool up = rounding == PowerRounding::kUp        ? fraction != 0
                  : rounding == PowerRounding::kNearest ? fraction >= 0x00400000u
                                                        : false;
  if (up) ++code;
  if (code > kLargest) return saturate ? kLargest : kNan;
  return static_cast<uint8_t>(code);
}

}  // namespace intarsia
