// SPDX-License-Identifier: Apache-2.0
//
// Rules of `Facts::computed`: which types a node computes in where no kernel takes its own.
//
//     .facts = {.computed = bytes_for_less}     Pad of int4 becomes Cast, Pad of int8, Cast
//
// Types that hold every number of those that they stand for, so that the casts lose nothing.
#pragma once

#include <algorithm>

#include "core/definitions/rows.h"

namespace intarsia::definitions {

/// A type of whole bytes that holds every number of a type of less than one; others are their own.
constexpr DataType whole_bytes(DataType type) {
  if (contains(kPackedIntegerTypes, type)) return DataType::kInt8;
  return element_bits(type) % 8 == 0 ? type : DataType::kFloat;
}

/// Of operators that move the elements of their first variable.
inline void bytes_for_less(std::span<DataType> types, const std::byte*) {
  types[0] = whole_bytes(types[0]);
}
/// The same of operators whose kernels know none of the small types.
inline void bytes_for_small(std::span<DataType> types, const std::byte*) {
  const bool small = !contains(kPlainTypes, types[0]) && element_bits(types[0]) == 8;
  types[0] = small ? DataType::kUint8 : whole_bytes(types[0]);
}

/// Computes in `wide` what has one of these types.
template <TypeSet narrow, DataType wide, size_t variable = 0>
void wide_for(std::span<DataType> types, const std::byte*) {
  if (contains(narrow, types[variable])) types[variable] = wide;
}

/// Data of the first variable, parameters of the others: of the data's type or, beside 16 bits, of
/// float. Otherwise all compute in the widest.
inline void alike(std::span<DataType> types, const std::byte*) {
  const bool narrow = types[0] == DataType::kFloat16 || types[0] == DataType::kBfloat16;
  const std::span<DataType> parameters = types.subspan(1);
  const auto all = [&](DataType type) {
    return std::all_of(parameters.begin(), parameters.end(), [=](DataType t) { return t == type; });
  };
  if (all(types[0]) || (narrow && all(DataType::kFloat))) return;
  if (std::find(types.begin(), types.end(), DataType::kDouble) != types.end()) {
    std::fill(types.begin(), types.end(), DataType::kDouble);
    return;
  }
  std::fill(parameters.begin(), parameters.end(), DataType::kFloat);
  if (!narrow) types[0] = DataType::kFloat;
}

}  // namespace intarsia::definitions
