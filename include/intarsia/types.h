// SPDX-License-Identifier: Apache-2.0
//
// Element types of tensors.
//
// The numbers of `DataType` are those of ONNX's TensorProto.DataType (onnx.proto, release 1.23) and
// are part of the plan format: they never change. C++ element types map to them through
// `data_type_of<T>`; types that C++ lacks (float16, bfloat16, 4-bit integers, ...) are stored as
// the small structs below, which hold bits and convert to and from float explicitly.
//
// How a kernel or a program meets these types:
//
//   - A tensor's elements lie densely in memory in little-endian order. `byte_size` is the only
//     place that knows how many bytes a number of elements takes; nobody multiplies by sizeof.
//   - `data_type_of<T>` turns a C++ type into its number at compile time. It is how typed access
//     (`Session::input<float>`) compares what the program asks for with what the plan holds.
//   - The reverse, a number known only at run time, is a switch in the caller; names for messages
//     are in "intarsia/describe.h".
//   - Kernels compute in float for the 16-bit types and round once, at the store.
//
// Everything here is a pure function or plain data: no state, any thread, no errors.
//
// Sources: ONNX, onnx.proto (TensorProto.DataType) and the operator specification's chapters on
// float8, float4 and 4-bit integers; IEEE 754-2019 for binary16.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace intarsia {

/// Element type of a tensor; values equal ONNX's TensorProto.DataType.
enum class DataType : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
  // No element types of ONNX: the bytes of a map, an optional value and a sequence, a vector as
  // long as what they hold needs ("intarsia/sequence.h").
  kMap = 29,
  kOptional = 30,
  kSequence = 31,
};

/// Highest number of an element type of ONNX.
inline constexpr uint8_t kLastDataType = 28;

/// True of the bytes of sequences, optional values and maps.
constexpr bool holds_elements(DataType type) {
  return type == DataType::kSequence || type == DataType::kOptional || type == DataType::kMap;
}

/// Bits that one element occupies in memory; 0 for kUndefined and for numbers outside the
/// enumeration. Sub-byte elements are packed, the first element in the low bits (as in ONNX's
/// raw_data). A string element is a StringRef.
constexpr int element_bits(DataType type) {
  constexpr uint8_t kBits[32] = {0,  32, 8, 8, 16, 16, 32, 64, 64, 8, 16, 64, 32, 64, 64, 128,
                                 16, 8,  8, 8, 8,  4,  4,  4,  8,  2, 2,  6,  6,  8,  8,  8};
  const auto index = static_cast<uint8_t>(type);
  return index < sizeof(kBits) ? kBits[index] : 0;
}

/// Bytes that `count` elements occupy. REQUIRES: count >= 0 and count * element_bits < 2^63.
constexpr int64_t byte_size(DataType type, int64_t count) {
  return (count * element_bits(type) + 7) / 8;
}

/// IEEE 754 binary16, stored as its bits.
///
/// Holds 11 significant bits; magnitudes from 2^-24 to 65504. It has no arithmetic of its own: code
/// converts to float, computes, and converts back, so that every rounding is visible. The default
/// value is +0. Comparison of `bits` is not comparison of values (two zeros, many NaNs).
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  /// Rounds to nearest, ties to even; overflow gives infinity.
  explicit constexpr Float16(float value);
  explicit constexpr operator float() const;
  static constexpr Float16 from_bits(uint16_t bits) {
    Float16 result;
    result.bits = bits;
    return result;
  }
};

/// The upper half of an IEEE 754 binary32, stored as its bits.
///
/// Holds 8 significant bits over the full exponent range of float; converting to float is exact.
/// Like Float16 it has no arithmetic of its own. The default value is +0.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// Rounds to nearest, ties to even; NaN stays NaN.
  explicit constexpr BFloat16(float value);
  explicit constexpr operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

constexpr BFloat16::BFloat16(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
  bits = nan ? static_cast<uint16_t>((word >> 16) | 0x40u)
             : static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
}

// Every case is computed and one chosen: loops over elements become vector code.
constexpr Float16::Float16(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (word >> 16) & 0x8000u;
  const uint32_t magnitude = word & 0x7fffffffu;
  // Normal: rebias, then round; a carry may reach infinity. Beside 0.5 a float counts in subnormal
  // numbers of 16 bits.
  const uint32_t rebiased = magnitude - 0x38000000u;
  const uint32_t normal = (rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13;
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);  // quiet, the top of the payload
  const uint32_t finite = magnitude >= 0x38800000u ? normal : subnormal;
  const uint32_t number = magnitude >= 0x47800000u ? 0x7c00u : finite;  // 2^16 and above
  bits = static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? nan : number));
}

constexpr Float16::operator float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t normal = (magnitude << 13) + 0x38000000u;
  const uint32_t finite = magnitude < 0x400u ? subnormal : normal;
  const uint32_t number = magnitude < 0x7c00u ? finite : 0x7f800000u | (magnitude << 13);
  return std::bit_cast<float>(sign | number);
}

/// An element of a tensor of strings: where its characters lie in the session's pool
/// ("intarsia/string_pool.h"). The default value is the empty string. Copying one copies no
/// characters, so operators that move elements move strings like numbers of 64 bits.
struct StringRef {
  uint32_t offset = 0;
  uint32_t length = 0;  ///< In bytes.
};

/// The `DataType` of a C++ element type; kUndefined for types that are none.
///
/// `bool` stands for ONNX's bool: one byte, 0 or 1. Complex numbers are reached through
/// `TensorView::data`, floating-point types of 8 bits and less and integers of less than a byte
/// through "intarsia/small_types.h".
/// Constness of T does not matter.
template <class T>
inline constexpr DataType data_type_of = DataType::kUndefined;
template <>
inline constexpr DataType data_type_of<float> = DataType::kFloat;
template <>
inline constexpr DataType data_type_of<double> = DataType::kDouble;
template <>
inline constexpr DataType data_type_of<Float16> = DataType::kFloat16;
template <>
inline constexpr DataType data_type_of<BFloat16> = DataType::kBfloat16;
template <>
inline constexpr DataType data_type_of<bool> = DataType::kBool;
template <>
inline constexpr DataType data_type_of<int8_t> = DataType::kInt8;
template <>
inline constexpr DataType data_type_of<uint8_t> = DataType::kUint8;
template <>
inline constexpr DataType data_type_of<int16_t> = DataType::kInt16;
template <>
inline constexpr DataType data_type_of<uint16_t> = DataType::kUint16;
template <>
inline constexpr DataType data_type_of<int32_t> = DataType::kInt32;
template <>
inline constexpr DataType data_type_of<uint32_t> = DataType::kUint32;
template <>
inline constexpr DataType data_type_of<int64_t> = DataType::kInt64;
template <>
inline constexpr DataType data_type_of<uint64_t> = DataType::kUint64;
template <>
inline constexpr DataType data_type_of<StringRef> = DataType::kString;
template <class T>
inline constexpr DataType data_type_of<const T> = data_type_of<T>;

}  // namespace intarsia
