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
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

template <class T>
double as_double(T x) {
  return static_cast<double>(Element<T>::load(x));
}
template <class T>
T from_double(double x) {
  return Element<T>::store(static_cast<typename Element<T>::Value>(x));
}

/// The sum of kCount lanes, halves joined; by few steps for the first few lanes.
template <int kCount>
double join_lanes(double* lanes) {
  if constexpr (kCount > 1) {
    INTARSIA_UNROLLED
    for (int k = 0; k < kCount / 2; ++k) lanes[k] += lanes[k + kCount / 2];
    return join_lanes<kCount / 2>(lanes);
  }
  return lanes[0];
}

/// Adds term(x[i]) for i in [begin, count) in steps of kCount elements; returns where it ends.
template <int kCount, class T, class Term>
int64_t add_lanes(const T* x, int64_t begin, int64_t count, double* lanes, Term term) {
  for (; begin + kCount <= count; begin += kCount) {
    INTARSIA_UNROLLED
    for (int k = 0; k < kCount; ++k) lanes[k] += term(x[begin + k]);
  }
  return begin;
}

/// Sum of term(x[i]) over so few neighbours that joining the lanes of the loops for many would take
/// longer.
template <int kLanes, class T, class Term>
double sum_by_lanes(const T* x, int64_t count, Term term) {
  double lanes[kLanes] = {};
  int64_t i = add_lanes<kLanes>(x, 0, count, lanes, term);
  if constexpr (kLanes > 8) i = add_lanes<8>(x, i, count, lanes, term);
  double sum = join_lanes<kLanes>(lanes);
  for (; i < count; ++i) sum += term(x[i]);
  return sum;
}

template <class T, class Term>
double sum_of_few(const T* x, int64_t count, Term term) {
  if (!INTARSIA_HAS_VECTORS) return sum_by_lanes<1>(x, count, term);
  return count < 32 ? sum_by_lanes<8>(x, count, term) : sum_by_lanes<16>(x, count, term);
}

/// Sum of term(x[i]) over `count` neighbours, by lanes.
template <class T, class Term>
double sum_of(const T* x, int64_t count, Term term) {
  if (INTARSIA_HAS_VECTORS && count < 4 * kRowLanes) {
    return sum_of_few(x, count, [=](T v) { return term(as_double(v)); });
  }
  double sums[kRowLanes];
  const int64_t groups = groups_for(count, 1);
  for (int64_t i = 0; i < groups; ++i) sums[i] = 0;
  step_run(sums, x, 1, count, 1, groups, [=](double sum, T v) { return sum + term(as_double(v)); });
  merge_groups(sums, 1, groups, [](double a, double b) { return a + b; });
  return sums[0];
}

/// The same of terms in what elements are computed in, none of them negative: four of them are
/// joined before they become double. In double where that leaves the range.
template <class T, class Term>
double sum_of_squares(const T* x, int64_t count, Term term) {
  using V = typename Element<T>::Value;
  constexpr int kLanes = 16;
  double sums[kLanes] = {};
  int64_t i = 0;
  for (; INTARSIA_HAS_VECTORS && i + 4 * kLanes <= count; i += 4 * kLanes) {
    V parts[kLanes];
    const auto square = [=](int64_t at) {
      const V root = term(Element<T>::load(x[i + at]));
      return root * root;
    };
    for (int k = 0; k < kLanes; ++k) {
      parts[k] =
          (square(k) + square(k + kLanes)) + (square(k + 2 * kLanes) + square(k + 3 * kLanes));
    }
    for (int k = 0; k < kLanes; ++k) sums[k] += static_cast<double>(parts[k]);
  }
  double sum = 0;
  if (i > 0) {
    for (const double lane : sums) sum += lane;
  }
  sum += sum_of_few(x + i, count - i, [=](T v) {
    const auto root = static_cast<double>(term(Element<T>::load(v)));
    return root * root;
  });
  if (sum > 0x1p-100 && sum < 0x1p120) return sum;
  return sum_of(x, count, [=](double v) {
    const auto root = static_cast<double>(term(static_cast<V>(v)));
    return root * root;
  });
}

/// y[i] = function(x[i], i) for i in [0, count). Y may be the same memory as X.
template <class T, class Y, class Function>
void map_run(const T* x, Y* y, int64_t count, Function function) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = from_double<Y>(function(as_double(x[i]), i));
}

/// The same, but the function takes and gives what elements are computed in.
template <class T, class Y, class Function>
void map_values(const T* x, Y* y, int64_t count, Function function) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = Element<Y>::store(function(Element<T>::load(x[i]), i));
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

/// x - mean in the elements' own precision, as exact near the mean as it is in double.
template <class V>
struct Deviation {
  V center, lost;
  explicit Deviation(double mean) : center(static_cast<V>(mean)) {
    const double rest = mean - static_cast<double>(center);  // NaN where the mean is infinite
    lost = static_cast<V>(rest == rest ? rest : 0);
  }
  V operator()(V x) const { return (x - center) - lost; }
};

template <class T>
Moments moments_of(const T* x, int64_t count) {
  using V = typename Element<T>::Value;
  const auto n = static_cast<double>(count);
  const double mean = sum_of(x, count, [](double v) { return v; }) / n;
  return {mean, sum_of_squares(x, count, Deviation<V>(mean)) / n};
}

}  // namespace intarsia::cpu
