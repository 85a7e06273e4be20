// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance of a run of elements, in double, in two passes (no cancellation); and the loops
// that normalise a run. Halves become floats block by block, which takes one instruction for eight
// of them where the processor has it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "intarsia/tensor.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/lane_vector.h"
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

/// kCount numbers of type A, in vectors of up to kBytes; doubles in at least two, as what becomes
/// of one vector of floats.
template <int kBytes, class A, int kCount>
struct Lanes {
  static constexpr int kMost = kBytes / static_cast<int>(sizeof(A));
  static constexpr int kWhole = sizeof(A) == 4 ? kCount : kCount / 2;
  static constexpr int kWidth = kWhole < kMost ? kWhole : kMost, kVectors = kCount / kWidth;
  using L = LaneVector<A, kWidth>;
  typename L::V v[kVectors];

  INTARSIA_INLINE void clear() {
    INTARSIA_UNROLLED
    for (int i = 0; i < kVectors; ++i) v[i] = typename L::V{};
  }
  INTARSIA_INLINE void load(const A* x) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kVectors; ++i) L::load(x + i * kWidth, v[i]);
  }
  /// Numbers of a type of half the size, too.
  template <class T>
  INTARSIA_INLINE void load(const T* x) {
    Lanes<kBytes, T, kCount> narrow;
    narrow.load(x);
    convert(narrow);
  }
  template <class T>
  INTARSIA_INLINE void convert(const Lanes<kBytes, T, kCount>& from) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kVectors; i += 2) {
      LaneVector<T, 2 * kWidth>::widen(from.v[i / 2], v[i], v[i + 1]);
    }
  }
  template <class Term>
  INTARSIA_INLINE void apply(Term term) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kVectors; ++i) term(v[i]);
  }
  INTARSIA_INLINE void add(const Lanes& other) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kVectors; ++i) v[i] += other.v[i];
  }
  /// Lets the last `kept` lanes as they are, others become 0.
  INTARSIA_INLINE void keep(int64_t kept) {
    using I = std::conditional_t<sizeof(A) == 4, int32_t, int64_t>;
    static constexpr Halves<I> kHalves;
    using M = LaneVector<I, kWidth>;
    INTARSIA_UNROLLED
    for (int i = 0; i < kVectors; ++i) {
      typename M::V mask;
      M::load(kHalves.lanes + kept + i * kWidth, mask);
      v[i] = __builtin_bit_cast(typename L::V, __builtin_bit_cast(typename M::V, v[i]) & mask);
    }
  }
  /// The sum of all, halves joined.
  INTARSIA_INLINE A sum() {
    INTARSIA_UNROLLED
    for (int left = kVectors / 2; left > 0; left /= 2) {
      INTARSIA_UNROLLED
      for (int i = 0; i < left; ++i) v[i] += v[i + left];
    }
    return sum_of_vector<kWidth>(v[0]);
  }

 private:
  /// Lanes without and with all bits.
  template <class I>
  struct Halves {
    I lanes[2 * kCount] = {};
    constexpr Halves() {
      for (int i = kCount; i < 2 * kCount; ++i) lanes[i] = -1;
    }
  };
  template <int kLeft, class Vector>
  INTARSIA_INLINE static A sum_of_vector(const Vector& all) {
    if constexpr (kLeft == 2) {
      return all[0] + all[1];
    } else {
      typename LaneVector<A, kLeft / 2>::V low, high;
      LaneVector<A, kLeft>::low(all, low);
      LaneVector<A, kLeft>::high(all, high);
      low += high;
      return sum_of_vector<kLeft / 2>(low);
    }
  }
};

/// Most lanes that take turns in a sum. Their number follows from how many elements there are
/// alone: so the order of additions is the same for every instruction set.
inline constexpr int kSumLanes = 16;

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

/// Sum of what term(v) makes of v, a double or a vector of them, over `count` neighbours.
template <int kBytes, int kCount = kSumLanes, class T, class Term>
double sum_values(const T* x, int64_t count, Term term) {
  if constexpr (INTARSIA_HAS_VECTORS && kCount >= 8) {
    if (count < kCount) return sum_values<kBytes, kCount / 2>(x, count, term);
    Lanes<kBytes, double, kCount> sums, values;
    sums.clear();
    int64_t i = 0;
    for (; i + kCount <= count; i += kCount) {
      values.load(x + i);
      values.apply(term);
      sums.add(values);
    }
    if (i < count) {
      values.load(x + count - kCount);
      values.apply(term);
      values.keep(count - i);
      sums.add(values);
    }
    return sums.sum();
  } else {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      auto value = static_cast<double>(x[i]);
      term(value);
      sum += value;
    }
    return sum;
  }
}

template <int kBytes, class T, class Term>
double sum_of(Isa isa, const T* x, int64_t count, Term term) {
  return sum_blocks(isa, x, count, [=](const auto* values, int64_t n) {
    return sum_values<kBytes>(values, n, term);
  });
}

template <class From, class To>
INTARSIA_INLINE void to_squares(const From& from, To& to) {
  if constexpr (std::is_same_v<From, To>) {
    to = from;
  } else {
    to.convert(from);
  }
  to.apply([](auto& v) { v *= v; });
}

/// The same of squares of terms in V, in which elements are computed. The squares are of type W: if
/// that is not double, four of them are joined before they become double.
template <int kBytes, class W, int kCount = kSumLanes, class V, class Term>
double sum_squares_in(const V* x, int64_t count, Term term) {
  if constexpr (INTARSIA_HAS_VECTORS && kCount >= 8) {
    if (count < kCount) return sum_squares_in<kBytes, W, kCount / 2>(x, count, term);
    Lanes<kBytes, double, kCount> sums, wide;
    Lanes<kBytes, V, kCount> roots;
    Lanes<kBytes, W, kCount> a, b, c, d;
    const auto square = [&](int64_t at, auto& squares) {
      roots.load(x + at);
      roots.apply(term);
      to_squares(roots, squares);
    };
    const auto add = [&] {
      if constexpr (sizeof(W) < 8) {
        wide.convert(a);
        sums.add(wide);
      } else {
        sums.add(a);
      }
    };
    sums.clear();
    int64_t i = 0;
    for (; sizeof(W) < 8 && i + 4 * kCount <= count; i += 4 * kCount) {
      square(i, a);
      square(i + kCount, b);
      square(i + 2 * kCount, c);
      square(i + 3 * kCount, d);
      a.add(b);
      c.add(d);
      a.add(c);
      add();
    }
    for (; i + kCount <= count; i += kCount) {
      square(i, a);
      add();
    }
    if (i < count) {
      square(count - kCount, a);
      a.keep(count - i);
      add();
    }
    return sums.sum();
  } else {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      V root = x[i];
      term(root);
      sum += static_cast<double>(static_cast<W>(root) * static_cast<W>(root));
    }
    return sum;
  }
}

/// In double where that leaves the range.
template <int kBytes, class V, class Term>
double sum_squares(const V* x, int64_t count, Term term) {
  const double sum = sum_squares_in<kBytes, V>(x, count, term);
  if (sum > 0x1p-100 && sum < 0x1p120) return sum;
  return sum_squares_in<kBytes, double>(x, count, term);
}

template <int kBytes, class T, class Term>
double sum_of_squares(Isa isa, const T* x, int64_t count, Term term) {
  return sum_blocks(isa, x, count, [=](const auto* values, int64_t n) {
    return sum_squares<kBytes>(values, n, term);
  });
}

/// Room for a block, as an argument: not set to zeros.
struct BlockRoom {
  BlockRoom() {}  // NOLINT(modernize-use-equals-default)
  float floats[kFloatBlock];
};

/// y[i] = function(x[i], first + i, more[i]...) for i in [0, count) by whole vectors: the last
/// results are computed before others are stored, for Y may be the same memory as X.
template <int kLast = kSumLanes, class X, class Y, class Function, class... More>
INTARSIA_INLINE void map_whole(const X* x, Y* y, int64_t first, int64_t count, Function function,
                               const More*... more) {
  constexpr bool kVectors = INTARSIA_HAS_VECTORS && kLast >= 8;
  int64_t rest = 0;
  Y last[kLast];
  if constexpr (kVectors) {
    if (count < kLast) return map_whole<kLast / 2>(x, y, first, count, function, more...);
    rest = count % kLast;
    const int64_t from = count - kLast;
    for (int i = 0; rest > 0 && i < kLast; ++i) {
      last[i] = function(x[from + i], first + from + i, more[from + i]...);
    }
  }
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count - rest; ++i) y[i] = function(x[i], first + i, more[i]...);
  if constexpr (kVectors) {
    if (rest > 0) std::memcpy(y + (count - kLast), last, sizeof last);
  }
}

/// y[i] = function(x[i], i, more[i]...) for i in [0, count), in what elements are computed in. Y
/// may be the same memory as X.
template <class T, class Y, class Function, class... More>
void map_values(Isa isa, const T* x, Y* y, int64_t count, Function function, const More*... more) {
  using V = typename Element<Y>::Value;
  const auto map = [=](int64_t first, int64_t n, const auto* from, V* to, const auto*... values) {
    map_whole(from, to, first, n, function, values...);
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

/// x - mean in the elements' own precision, as exact near the mean as it is in double.
template <class V>
struct Deviation {
  V center, lost;
  explicit Deviation(double mean) : center(static_cast<V>(mean)) {
    const double rest = mean - static_cast<double>(center);  // NaN where the mean is infinite
    lost = static_cast<V>(rest == rest ? rest : 0);
  }
  V of(V x) const { return (x - center) - lost; }
  template <class X>  // a V or a vector of them
  void operator()(X& x) const {
    x = (x - center) - lost;
  }
};

/// How many runs of `count` elements to take together, `most` at most: what is computed of each is
/// a chain of steps that wait for one another. So few that they are near when they are read again.
inline constexpr int64_t kElementsTogether = 2048;
inline int64_t runs_together(int64_t count, int64_t most) {
  const int64_t runs = count > 0 ? kElementsTogether / count : 1;
  return runs < 1 ? 1 : runs < most ? runs : most;
}

/// Means and variances of `runs` runs of `count` elements, one after another.
template <int kBytes, class T>
void moments_of(Isa isa, const T* x, int64_t runs, int64_t count, double* means,
                double* variances) {
  using V = typename Element<T>::Value;
  const auto n = static_cast<double>(count);
  for (int64_t r = 0; r < runs; ++r) {
    means[r] = sum_of<kBytes>(isa, x + r * count, count, [](const auto&) {});
  }
  for (int64_t r = 0; r < runs; ++r) means[r] /= n;
  for (int64_t r = 0; r < runs; ++r) {
    variances[r] = sum_of_squares<kBytes>(isa, x + r * count, count, Deviation<V>(means[r]));
  }
  for (int64_t r = 0; r < runs; ++r) variances[r] /= n;
}

}  // namespace intarsia::cpu
