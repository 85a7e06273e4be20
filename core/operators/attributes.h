// SPDX-License-Identifier: Apache-2.0
//
// Building blocks of attribute structs.
//
// An attributes struct is stored in the plan as its bytes (little endian) and read there in place,
// so it holds fixed-width fields only, has no padding (INTARSIA attribute structs are checked with
// `is_plan_struct`), and is the same on 32-bit and 64-bit targets. Each struct names its fields
// once, in `fields`, for the converter: ONNX name, member, and the default that the member
// initialiser gives.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include "intarsia/tensor.h"

namespace intarsia {

/// A list of up to N values inside an attributes struct.
template <class T, int N = kMaxRank>
struct FixedList {
  int32_t count = 0;
  T values[N] = {};

  std::span<const T> view() const { return {values, static_cast<size_t>(count)}; }
  const T& operator[](int index) const { return values[index]; }
  T& operator[](int index) { return values[index]; }
  /// A count that was checked to lie in range; a plan from outside may hold any number.
  bool valid() const { return count >= 0 && count <= N; }
  void push(T value) { values[count++] = value; }
};
using IntList = FixedList<int32_t>;

/// True if A may be stored in a plan.
template <class A>
inline constexpr bool is_plan_struct =
    std::is_trivially_copyable_v<A>&& std::is_standard_layout_v<A> && alignof(A) <= 8 &&
    sizeof(A) % 4 == 0;
static_assert(std::endian::native == std::endian::little, "plans are little endian");

/// Attributes of operators that have none.
struct NoAttributes {
  template <class V>
  void fields(V&) {}
};

/// The one attribute of Softmax, Concat, Gather, Split, Flatten, ... (`axis`).
struct AxisAttributes {
  int32_t axis = 0;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<AxisAttributes>);

}  // namespace intarsia
