// SPDX-License-Identifier: Apache-2.0
//
// What reference kernels accumulate in.
//
// Sums over float are kept in double, over the 16-bit types in float, over integers in an unsigned
// type of the same width (they wrap). Fast kernels are measured against these results.
#pragma once

#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// Lanes that a reference kernel carries side by side on the stack.
inline constexpr int64_t kLanes = 64;

namespace internal {
template <class T>
struct AccumulatorOf {
  using Type = Wide<T>;
};
template <>
struct AccumulatorOf<float> {
  using Type = double;
};
template <>
struct AccumulatorOf<Float16> {
  using Type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using Type = float;
};
}  // namespace internal

template <class T>
using Accumulator = typename internal::AccumulatorOf<T>::Type;

template <class T>
Accumulator<T> accumulable(T value) {
  return static_cast<Accumulator<T>>(Element<T>::load(value));
}
template <class T>
T rounded(Accumulator<T> sum) {
  return Element<T>::store(static_cast<typename Element<T>::Value>(sum));
}

}  // namespace intarsia::cpu
