// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance of a run of elements, in double, in two passes (no cancellation); and the loops
// that normalise a run.
#pragma once

#include <cstdint>

#include "intarsia/tensor.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/row_steps.h"

namespace intarsia::cpu {

template <class T>
double as_double(T x) {
  return static_cast<double>(Element<T>::load(x));
}
template <class T>
T from_double(double x) {
  return Element<T>::store(static_cast<typename Element<T>::Value>(x));
}

/// Sum of term(x[i]) over `count` neighbours, by lanes.
template <class T, class Term>
double sum_of(const T* x, int64_t count, Term term) {
  double sums[kRowLanes];
  const int64_t groups = groups_for(count, 1);
  for (int64_t i = 0; i < groups; ++i) sums[i] = 0;
  step_run(sums, x, 1, count, 1, groups, [=](double sum, T v) { return sum + term(as_double(v)); });
  merge_groups(sums, 1, groups, [](double a, double b) { return a + b; });
  return sums[0];
}

/// y[i] = function(x[i], i) for i in [0, count). Y may be the same memory as X.
template <class T, class Y, class Function>
void map_run(const T* x, Y* y, int64_t count, Function function) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = from_double<Y>(function(as_double(x[i]), i));
}

/// The same, but the function takes and gives what elements are computed in.
template <class T, class Function>
void map_values(const T* x, T* y, int64_t count, Function function) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = Element<T>::store(function(Element<T>::load(x[i]), i));
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

/// y = (x - center) * multiply + add in the elements' own precision V. What `center` loses of the
/// mean is part of `add`, so x - mean is as exact near the mean as it is in double.
template <class V>
struct Line {
  V multiply, center, add;

  Line() = default;
  Line(double factor, double shift, double mean)
      : multiply(static_cast<V>(factor)), center(static_cast<V>(mean)) {
    const double lost = mean - static_cast<double>(center);  // NaN where the mean is infinite
    add = static_cast<V>(lost == lost ? shift - lost * factor : shift);
  }
};

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class T>
Moments moments_of(const T* x, int64_t count) {
  const auto n = static_cast<double>(count);
  const double mean = sum_of(x, count, [](double v) { return v; }) / n;
  return {mean, sum_of(x, count, [=](double v) { return (v - mean) * (v - mean); }) / n};
}

}  // namespace intarsia::cpu
