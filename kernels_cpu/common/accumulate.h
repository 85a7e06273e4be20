// SPDX-License-Identifier: Apache-2.0
//
// What reference kernels accumulate in. Fast kernels are measured against these results. The
// choices differ on purpose:
//     Accumulator<T>      products of elements and means of windows: double for float, float for
//                         the 16-bit types, whose products it holds exactly; integers wrap in an
//                         unsigned type of the same width
//     AxisAccumulator<T>  whole axes, of any length: the same, but double for 16-bit types too
//     Weighted<T>         few elements with weights (Resize): float where it holds the elements
// What becomes a statistic (mean, variance, norm) is double for every type: nn/moments.h. Kernels
// that accumulate nothing compute in Element<T>::Value.
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
using AxisAccumulator = Accumulator<typename Element<T>::Value>;
template <class T>
using Weighted =
    std::conditional_t<std::is_same_v<T, double> || std::is_integral_v<T>, double, float>;

template <class T>
Accumulator<T> accumulable(T value) {
  return static_cast<Accumulator<T>>(Element<T>::load(value));
}
template <class T>
T rounded(Accumulator<T> sum) {
  return Element<T>::store(static_cast<typename Element<T>::Value>(sum));
}

}  // namespace intarsia::cpu
