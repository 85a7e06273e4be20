// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance of a run of elements, in double, in two passes (no cancellation); and the loops
// that normalise a run. Halves become floats block by block, which takes one instruction for eight
// of them where the processor has it.
#pragma once

#include <cstdint>

#include "intarsia/tensor.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/row_steps.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/elementwise/float_blocks.h"
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

/// The sum of sum_block(values, n) over x, block by block.
template <class T, class SumBlock>
double sum_blocks(Isa isa, const T* x, int64_t count, SumBlock sum_block) {
  if constexpr (!kIsHalf<T>) return sum_block(x, count);
  typename Element<T>::Value block[kFloatBlock];
  double sum = 0;
  for (int64_t first = 0; first < count; first += kFloatBlock) {
    const int64_t n = count - first < kFloatBlock ? count - first : kFloatBlock;
    sum += sum_block(values_at(isa, x + first, block, n), n);
  }
  return sum;
}

/// Sum of term(x[i]) over `count` neighbours, by lanes.
template <class T, class Term>
double sum_values(const T* x, int64_t count, Term term) {
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

template <class T, class Term>
double sum_of(Isa isa, const T* x, int64_t count, Term term) {
  return sum_blocks(isa, x, count,
                    [=](const auto* values, int64_t n) { return sum_values(values, n, term); });
}

/// The same of squares of terms in V, in which elements are computed: four of them are joined
/// before they become double. In double where that leaves the range.
template <class V, class Term>
double sum_squares(const V* x, int64_t count, Term term) {
  constexpr int kLanes = 16;
  double sums[kLanes] = {};
  int64_t i = 0;
  for (; INTARSIA_HAS_VECTORS && i + 4 * kLanes <= count; i += 4 * kLanes) {
    V parts[kLanes];
    const auto square = [=](int64_t at) {
      const V root = term(x[i + at]);
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
  sum += sum_of_few(x + i, count - i, [=](V v) {
    const auto root = static_cast<double>(term(v));
    return root * root;
  });
  if (sum > 0x1p-100 && sum < 0x1p120) return sum;
  return sum_values(x, count, [=](double v) {
    const auto root = static_cast<double>(term(static_cast<V>(v)));
    return root * root;
  });
}

template <class T, class Term>
double sum_of_squares(Isa isa, const T* x, int64_t count, Term term) {
  return sum_blocks(isa, x, count,
                    [=](const auto* values, int64_t n) { return sum_squares(values, n, term); });
}

/// Room for a block, as an argument: not set to zeros.
struct BlockRoom {
  BlockRoom() {}  // NOLINT(modernize-use-equals-default)
  float floats[kFloatBlock];
};

/// y[i] = function(x[i], i, more[i]...) for i in [0, count), in what elements are computed in. Y
/// may be the same memory as X.
template <class T, class Y, class Function, class... More>
void map_values(Isa isa, const T* x, Y* y, int64_t count, Function function, const More*... more) {
  using V = typename Element<Y>::Value;
  const auto map = [=](int64_t first, int64_t n, const auto* from, V* to, const auto*... values) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = function(from[i], first + i, values[i]...);
  };
  if constexpr (!kIsHalf<T> && !kIsHalf<Y> && !(kIsHalf<More> || ...)) {
    map(0, count, x, y, more...);
  } else {
    float block[kFloatBlock];
    for (int64_t first = 0; first < count; first += kFloatBlock) {
      const int64_t n = count - first < kFloatBlock ? count - first : kFloatBlock;
      const auto* from = values_at(isa, x + first, block, n);
      if constexpr (kIsHalf<Y>) {
        map(first, n, from, block, values_at(isa, more + first, BlockRoom().floats, n)...);
        from_floats(isa, block, y + first, n);
      } else {
        map(first, n, from, y + first, values_at(isa, more + first, BlockRoom().floats, n)...);
      }
    }
  }
}

/// The same, but the function takes and gives doubles.
template <class T, class Y, class Function>
void map_run(Isa isa, const T* x, Y* y, int64_t count, Function function) {
  map_values(isa, x, y, count, [=](auto v, int64_t i) {
    return static_cast<typename Element<Y>::Value>(function(static_cast<double>(v), i));
  });
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
Moments moments_of(Isa isa, const T* x, int64_t count) {
  using V = typename Element<T>::Value;
  const auto n = static_cast<double>(count);
  const double mean = sum_of(isa, x, count, [](double v) { return v; }) / n;
  return {mean, sum_of_squares(isa, x, count, Deviation<V>(mean)) / n};
}

}  // namespace intarsia::cpu
