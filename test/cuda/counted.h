// SPDX-License-Identifier: Apache-2.0
//
// Inputs of kernels that move elements of any width.
#pragma once

#include "test/cuda/kernel_cases.h"

namespace intarsia::test {

/// A type of each width that movement knows.
inline constexpr DataType kEveryWidth[] = {DataType::kUint8, DataType::kInt16, kFloat,
                                           DataType::kInt64};

/// Elements of which neighbours differ.
inline std::vector<double> counted(DataType type, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = type == DataType::kUint8 ? static_cast<double>(i * 7 % 251) : 1.0 + i;
  }
  return values;
}
inline Node& add_input(Node& node, DataType type, const Dims& dims) {
  return node.input(type, dims, counted(type, count_of(dims)));
}

}  // namespace intarsia::test
