// SPDX-License-Identifier: Apache-2.0
//
// Tensors that are indexed one element at a time: what tests of movement kernels compare with.
#pragma once

#include <functional>

#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {

/// An element of 128 bits.
struct Complex128 {
  uint64_t real = 0, imaginary = 0;
  bool operator==(const Complex128&) const = default;
};

using Index = std::vector<int64_t>;

template <class T>
struct Dense {
  Dims dims;
  std::vector<T> values;

  size_t position(const Index& index) const {
    int64_t position = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      EXPECT_GE(index[axis], 0);
      EXPECT_LT(index[axis], dims[axis]);
      position = position * dims[axis] + index[axis];
    }
    return static_cast<size_t>(position);
  }
  T at(const Index& index) const { return values.at(position(index)); }
};

/// Calls `visit(index)` for every index of a tensor, last axis fastest.
inline void for_each_index(const Dims& dims, const std::function<void(const Index&)>& visit) {
  Index index(dims.size());
  for (int64_t left = count_of(dims); left > 0; --left) {
    visit(index);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}

/// A tensor whose element at each index is `element(index)`.
template <class T>
std::vector<T> generate(const Dims& dims, const std::function<T(const Index&)>& element) {
  std::vector<T> values;
  for_each_index(dims, [&](const Index& index) { values.push_back(element(index)); });
  return values;
}

/// Random cases: everything follows from the seed.
class Random {
 public:
  explicit Random(uint32_t seed) : engine(seed) {}

  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  bool chance(int one_in) { return number(1, one_in) == 1; }
  int32_t extent(int64_t high) { return chance(16) ? 0 : static_cast<int32_t>(number(1, high)); }
  Dims dims(int64_t rank, int64_t high) {
    Dims result;
    for (int64_t i = 0; i < rank; ++i) result.push_back(extent(high));
    return result;
  }
  std::vector<int32_t> permutation(int64_t count) {
    std::vector<int32_t> result;
    for (int64_t i = 0; i < count; ++i) result.push_back(static_cast<int32_t>(i));
    std::shuffle(result.begin(), result.end(), engine);
    return result;
  }
  template <class T>
  Dense<T> tensor(const Dims& dims) {
    Dense<T> result{dims, {}};
    for (int64_t i = count_of(dims); i > 0; --i) {
      if constexpr (std::is_same_v<T, Complex128>) {
        result.values.push_back({engine(), engine()});
      } else {
        result.values.push_back(static_cast<T>(engine()));
      }
    }
    return result;
  }

  std::mt19937 engine;
};

/// One element type of each width, for typed tests.
using AllWidths = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t, Complex128>;

}  // namespace intarsia::test

template <>
inline constexpr intarsia::DataType intarsia::data_type_of<intarsia::test::Complex128> =
    intarsia::DataType::kComplex128;
