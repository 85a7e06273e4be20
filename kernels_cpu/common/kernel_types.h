// SPDX-License-Identifier: Apache-2.0
//
// Type arguments of kernel templates: element types, and widths for kernels that only move
// elements, and types that C++ lacks.
//
// `Width<32>` stands for every element type of 32 bits; its `Element` is an unsigned integer (or a
// pair of them) that is copied as it is. `kernel_type_of<T>` is what goes into a KernelId.
#pragma once

#include <cstdint>

#include "core/kernel_descriptor.h"

namespace intarsia::cpu {

template <int Bits>
struct Width;
template <>
struct Width<8> {
  using Element = uint8_t;
};
template <>
struct Width<16> {
  using Element = uint16_t;
};
template <>
struct Width<32> {
  using Element = uint32_t;
};
template <>
struct Width<64> {
  using Element = uint64_t;
};
template <>
struct Width<128> {
  struct Element {
    uint64_t words[2];
  };
};

/// An element type of "intarsia/small_types.h".
template <DataType type>
struct Small {};
using SmallFloats =
    Types<Small<DataType::kFloat8E4M3FN>, Small<DataType::kFloat8E4M3FNUZ>,
          Small<DataType::kFloat8E5M2>, Small<DataType::kFloat8E5M2FNUZ>,
          Small<DataType::kFloat4E2M1>, Small<DataType::kFloat6E2M3>, Small<DataType::kFloat6E3M2>>;
using SmallIntegers = Types<Small<DataType::kUint4>, Small<DataType::kInt4>,
                            Small<DataType::kUint2>, Small<DataType::kInt2>>;
using SmallTypes = Join<SmallFloats, SmallIntegers, Types<Small<DataType::kFloat8E8M0>>>;
/// Those of less than a byte.
using PackedTypes =
    Join<SmallIntegers, Types<Small<DataType::kFloat4E2M1>, Small<DataType::kFloat6E2M3>,
                              Small<DataType::kFloat6E3M2>>>;

using Widths = Types<Width<8>, Width<16>, Width<32>, Width<64>, Width<128>>;
/// Types of indices.
using Indices = Types<int32_t, int64_t>;

template <class T>
inline constexpr KernelType kernel_type_of = data_type_of<T>;
template <DataType type>
inline constexpr KernelType kernel_type_of<Small<type>> = type;
template <>
inline constexpr KernelType kernel_type_of<Width<8>> = ElementWidth::k8;
template <>
inline constexpr KernelType kernel_type_of<Width<16>> = ElementWidth::k16;
template <>
inline constexpr KernelType kernel_type_of<Width<32>> = ElementWidth::k32;
template <>
inline constexpr KernelType kernel_type_of<Width<64>> = ElementWidth::k64;
template <>
inline constexpr KernelType kernel_type_of<Width<128>> = ElementWidth::k128;

}  // namespace intarsia::cpu
