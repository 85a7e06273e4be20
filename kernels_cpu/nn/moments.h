// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance of a run of elements, in double, in two passes (no cancellation). Eight partial
// sums hide the latency of the additions.
#pragma once

#include <cstdint>

#include "intarsia/tensor.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

template <class T>
double as_double(T x) {
  return static_cast<double>(Element<T>::load(x));
}
template <class T>
T from_double(double x) {
  return Element<T>::store(static_cast<typename Element<T>::Value>(x));
}

/// Sum of term(x[i]) over `count` neighbours.
template <class T, class Term>
double sum_of(const T* x, int64_t count, const Term& term) {
  constexpr int kParts = 8;
  double parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (int j = 0; j < kParts; ++j) parts[j] += term(as_double(x[i + j]));
  }
  for (; i < count; ++i) parts[0] += term(as_double(x[i]));
  double sum = 0;
  for (double part : parts) sum += part;
  return sum;
}

/// Elements of the axes from `axes` on, and of those before.
inline int64_t elements_from(const TensorView& view, int axes) {
  int64_t count = 1;
  for (int axis = axes; axis < view.rank; ++axis) count *= view.extents[axis];
  return count;
}
inline int64_t elements_before(const TensorView& view, int axes) {
  int64_t count = 1;
  for (int axis = 0; axis < axes; ++axis) count *= view.extents[axis];
  return count;
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class T>
Moments moments_of(const T* x, int64_t count) {
  const auto n = static_cast<double>(count);
  Moments result;
  result.mean = sum_of(x, count, [](double v) { return v; }) / n;
  result.variance =
      sum_of(x, count, [&](double v) { return (v - result.mean) * (v - result.mean); }) / n;
  return result;
}

}  // namespace intarsia::cpu
