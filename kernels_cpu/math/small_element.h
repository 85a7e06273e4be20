// SPDX-License-Identifier: Apache-2.0
//
// Elements of the types in "intarsia/small_types.h" and of all others, by their number in a tensor.
//
// `load_at<T>` gives the value that kernels compute with, whatever T is. Floating-point codes are
// decoded by a table; small_runs.h has what reads and writes many.
#pragma once

#include <array>

#include "intarsia/small_types.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/convert.h"

namespace intarsia::cpu {

template <class T>
inline constexpr DataType small_type = DataType::kUndefined;
template <DataType type>
inline constexpr DataType small_type<Small<type>> = type;
template <class T>
inline constexpr bool is_small = small_type<T> != DataType::kUndefined;

template <DataType type>
inline constexpr bool is_small_float =
    float_format(type).exponent != 0 || type == DataType::kFloat8E8M0;

/// What the codes of a floating-point type stand for.
template <DataType type>
inline constexpr auto kDecoded = [] {
  std::array<float, size_t{1} << element_bits(type)> values{};
  for (size_t code = 0; code < values.size(); ++code) {
    const auto bits = static_cast<uint8_t>(code);
    values[code] =
        type == DataType::kFloat8E8M0 ? decode_power(bits) : decode_float(float_format(type), bits);
  }
  return values;
}();

template <DataType type>
auto decode(uint8_t code) {
  if constexpr (is_small_float<type>) {
    return kDecoded<type>[code];
  } else {
    constexpr bool kSigned = type == DataType::kInt4 || type == DataType::kInt2;
    return static_cast<int8_t>(decode_integer(code, element_bits(type), kSigned));
  }
}

/// Element `index` of a tensor of type T.
template <class T>
auto load_at(const std::byte* elements, int64_t index) {
  if constexpr (is_small<T>) {
    constexpr DataType kType = small_type<T>;
    return decode<kType>(packed_code(elements, index, element_bits(kType)));
  } else {
    using E = Element<T>;
    return E::load(reinterpret_cast<const typename E::Stored*>(elements)[index]);
  }
}

/// How numbers become codes of floating-point types.
struct Encoding {
  bool saturate = true;
  PowerRounding powers = PowerRounding::kUp;
};

/// The code of `value`: integers keep their low bits, as do what other numbers truncate to.
template <DataType type, class V>
uint8_t encode(V value, [[maybe_unused]] const Encoding& encoding) {
  if constexpr (type == DataType::kFloat8E8M0) {
    return encode_power(to_float(value), encoding.saturate, encoding.powers);
  } else if constexpr (is_small_float<type>) {
    return encode_float(float_format(type), to_float(value), encoding.saturate);
  } else {
    constexpr unsigned kMask = (1u << element_bits(type)) - 1;
    return static_cast<uint8_t>(static_cast<unsigned>(convert<int32_t>(value)) & kMask);
  }
}

}  // namespace intarsia::cpu
