// SPDX-License-Identifier: Apache-2.0
//
// Softmax and LogSoftmax of rows on the vectors of vector.h and vector_double.h, and their parts:
// the largest element and the sum of exponentials.
//
// What is left of a row behind its last whole vector is filled up with minus infinity, whose
// exponential is 0. A row that fits a vector stays in it from its load to its store.
#pragma once

#include <limits>

#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/math/vector_double.h"

namespace intarsia::cpu {

/// Lane i of the result is lane i ^ kBit of v.
template <int kBit, int kWidth, class V>
INTARSIA_INLINE V swap_lanes(V v) {
  constexpr int k = kBit;
  if constexpr (kWidth == 16) {
    return __builtin_shufflevector(v, v, 0 ^ k, 1 ^ k, 2 ^ k, 3 ^ k, 4 ^ k, 5 ^ k, 6 ^ k, 7 ^ k,
                                   8 ^ k, 9 ^ k, 10 ^ k, 11 ^ k, 12 ^ k, 13 ^ k, 14 ^ k, 15 ^ k);
  } else if constexpr (kWidth == 8) {
    return __builtin_shufflevector(v, v, 0 ^ k, 1 ^ k, 2 ^ k, 3 ^ k, 4 ^ k, 5 ^ k, 6 ^ k, 7 ^ k);
  } else if constexpr (kWidth == 4) {
    return __builtin_shufflevector(v, v, 0 ^ k, 1 ^ k, 2 ^ k, 3 ^ k);
  } else {
    return __builtin_shufflevector(v, v, 0 ^ k, 1 ^ k);
  }
}

/// All lanes of v in each, by halves: as few steps in a row as there can be.
template <int kWidth, class V, class Merge>
INTARSIA_INLINE V fold_lanes(V v, Merge merge) {
  if constexpr (kWidth > 8) v = merge(v, swap_lanes<8, kWidth>(v));
  if constexpr (kWidth > 4) v = merge(v, swap_lanes<4, kWidth>(v));
  if constexpr (kWidth > 2) v = merge(v, swap_lanes<2, kWidth>(v));
  if constexpr (kWidth > 1) v = merge(v, swap_lanes<1, kWidth>(v));
  return v;
}

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Lane i is i.
template <class Vec>
INTARSIA_INLINE typename Vec::I lane_numbers() {
  int32_t lanes[Vec::kWidth];
  for (int i = 0; i < Vec::kWidth; ++i) lanes[i] = i;
  typename Vec::I lane;
  std::memcpy(&lane, lanes, sizeof lane);
  return lane;
}

/// The first n floats, n > 0; the rest is minus infinity.
template <class Vec>
INTARSIA_INLINE typename Vec::F load_filled(const float* p, int n) {
  if constexpr (Vec::kWidth == 1) {
    return *p;
  } else {
    return lane_numbers<Vec>() < n ? Vec::load_part(p, n) : VecMath<Vec>::splat(kMinusInfinity);
  }
}

template <class Vec, bool kStore>
INTARSIA_INLINE float exp_sum_of(const float* x, float* y, int64_t n, float shift) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  constexpr int kWidth = Vec::kWidth;
  F sums = M::splat(0.0f);
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const F e = M::exp_negative(Vec::load(x + i) - shift);
    if constexpr (kStore) Vec::store(y + i, e);
    sums = sums + e;
  }
  if (kWidth > 1 && i < n) {
    const int rest = static_cast<int>(n - i);
    const F e = M::exp_negative(load_filled<Vec>(x + i, rest) - shift);
    if constexpr (kStore) Vec::store_part(y + i, e, rest);
    sums = sums + e;
  }
  return Vec::lane(fold_lanes<kWidth>(sums, [](F a, F b) { return a + b; }), 0);
}

template <class Vec>
INTARSIA_INLINE float largest_of(const float* x, int64_t n) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  constexpr int kWidth = Vec::kWidth;
  F lanes = M::splat(kMinusInfinity);
  F others = lanes;  // two at a time: each waits for its own last comparison
  int64_t i = 0;
  for (; i + 2 * kWidth <= n; i += 2 * kWidth) {
    lanes = M::max(lanes, Vec::load(x + i));
    others = M::max(others, Vec::load(x + i + kWidth));
  }
  const auto larger = [](F a, F b) { return M::max(a, b); };
  if (n >= kWidth) {  // what is left, with elements that were seen before it
    if (i + kWidth <= n) lanes = M::max(lanes, Vec::load(x + i));
    others = M::max(others, Vec::load(x + n - kWidth));
    return Vec::lane(fold_lanes<kWidth>(larger(lanes, others), larger), 0);
  }
  float largest = Vec::lane(lanes, 0);
  for (; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/// A row longer than a vector. What is left of it behind its whole vectors is part of the vector
/// that ends with it, which stays in a register: a part that was stored could not be read again at
/// once, nor what lies behind it.
template <class Vec, bool kLog>
INTARSIA_INLINE void softmax_long_row(const float* x, float* y, int64_t n) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  constexpr int kWidth = Vec::kWidth;
  const float shift = largest_of<Vec>(x, n);
  F sums = M::splat(0.0f), end = Vec::load(x + n - kWidth) - shift;
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const F e = M::exp_negative(Vec::load(x + i) - shift);
    if constexpr (!kLog) Vec::store(y + i, e);
    sums = sums + e;
  }
  const int64_t whole = i;
  if (whole < n) {
    const F e = M::exp_negative(end);
    sums = sums + (lane_numbers<Vec>() < kWidth - static_cast<int>(n - whole) ? F{} : e);
    if constexpr (!kLog) end = e;
  }
  const float sum = Vec::lane(fold_lanes<kWidth>(sums, [](F a, F b) { return a + b; }), 0);
  const float last = kLog ? __builtin_logf(sum) : 1.0f / sum;
  for (i = 0; i < whole; i += kWidth) {
    Vec::store(y + i, kLog ? (Vec::load(x + i) - shift) - last : Vec::load(y + i) * last);
  }
  if (whole < n) Vec::store(y + n - kWidth, kLog ? end - last : end * last);
}

/// Not inlined: in a loop over rows the call of logf would have the constants of the exponentials
/// in memory.
template <class Vec>
[[gnu::noinline]] void log_softmax_long_row(const float* x, float* y, int64_t n) {
  softmax_long_row<Vec, true>(x, y, n);
}

template <class Vec, bool kLog>
INTARSIA_INLINE void softmax_rows(const float* x, float* y, int64_t rows, int64_t n) {
  using M = VecMath<Vec>;
  using F = typename Vec::F;
  constexpr int kWidth = Vec::kWidth;
  if (kWidth == 1 || n > kWidth) {
    for (; rows > 0; --rows, x += n, y += n) {
      if constexpr (kWidth > 1) {
        kLog ? log_softmax_long_row<Vec>(x, y, n) : softmax_long_row<Vec, false>(x, y, n);
        continue;
      }
      const float shift = largest_of<Vec>(x, n);
      const float sum = exp_sum_of<Vec, !kLog>(x, y, n, shift);
      const float last = kLog ? __builtin_logf(sum) : 1.0f / sum;
      const auto scaled = [=](F v) { return kLog ? (v - shift) - last : v * last; };
      const float* from = kLog ? x : y;
      for (int64_t i = 0; i < n; ++i) Vec::store(y + i, scaled(Vec::load(from + i)));
    }
    return;
  }
  // Shorter rows are stored as whole vectors, each over what the one before it left behind its row,
  // into a block: parts would cost more, and in place the next load would wait for them.
  constexpr int64_t kBlock = 256;
  float block[kBlock + kWidth];
  const int count = static_cast<int>(n);
  const int64_t most = n < kWidth ? kBlock / n : rows;
  while (rows > 0) {
    const int64_t some = rows < most ? rows : most;
    float* out = n < kWidth ? block : y;
    for (int64_t row = 0; row < some; ++row) {
      const F v = load_filled<Vec>(x + row * n, count);
      const F shifted = v - fold_lanes<kWidth>(M::max(M::splat(kMinusInfinity), v),
                                               [](F a, F b) { return M::max(a, b); });
      const F e = M::exp_negative(shifted);
      const F sums = fold_lanes<kWidth>(e, [](F a, F b) { return a + b; });
      const float sum = Vec::lane(sums, 0);
      Vec::store(out + row * n, kLog ? shifted - __builtin_logf(sum) : e * (1.0f / sum));
    }
    if (n < kWidth) std::memcpy(y, block, static_cast<size_t>(some * n) * sizeof(float));
    rows -= some;
    x += some * n;
    y += some * n;
  }
}

/// Short rows, a block of them step by step: exponentials and logarithms run over the block without
/// regard to where rows end, and what reduces a row leaves out what is read behind it. Vectors are
/// stored over what the one before left behind its row.
template <int kWidth, bool kLog>
struct ShortDoubleRows {
  using M = DoubleMath<kWidth>;
  using D = typename M::D;
  static constexpr int64_t kBlock = 64, kLongest = 32;
  static_assert(kLongest >= kWidth);

  INTARSIA_INLINE static D load(const double* p) {
    D v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  INTARSIA_INLINE static void store(double* p, D v) { std::memcpy(p, &v, sizeof v); }
  /// What `merge` makes of a row and of `none` for the lanes behind it, in each lane.
  template <class Merge>
  INTARSIA_INLINE static D reduce(const double* row, int64_t n, D lane, D none, Merge merge) {
    D result = none;
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) result = merge(result, load(row + i));
    if (i < n) {
      result = merge(result, lane < static_cast<double>(n - i) ? load(row + i) : none);
    }
    return fold_lanes<kWidth>(result, merge);
  }

  INTARSIA_INLINE static void run(const double* x, double* y, int64_t rows, int64_t n) {
    double in[kBlock + kWidth] = {}, shifted[kBlock + kWidth] = {}, exps[kBlock + kWidth] = {};
    double last[kBlock + kWidth] = {}, lanes[kWidth];
    for (int i = 0; i < kWidth; ++i) lanes[i] = i;
    const D lane = load(lanes);
    const D lowest = M::splat(-std::numeric_limits<double>::infinity());
    const int64_t most = kBlock / n;
    for (int64_t count; rows > 0; rows -= count, x += count * n, y += count * n) {
      count = rows < most ? rows : most;
      const int64_t all = count * n;
      const size_t bytes = static_cast<size_t>(all) * sizeof(double);
      std::memcpy(in, x, bytes);
      for (int64_t at = 0; at < all; at += n) {
        const D largest = reduce(in + at, n, lane, lowest, [](D a, D b) { return b > a ? b : a; });
        for (int64_t i = at; i < at + n; i += kWidth) store(shifted + i, load(in + i) - largest);
      }
      for (int64_t i = 0; i < all; i += kWidth) store(exps + i, M::exp(load(shifted + i)));
      for (int64_t row = 0; row < count; ++row) {
        store(last + row,
              reduce(exps + row * n, n, lane, M::splat(0), [](D a, D b) { return a + b; }));
      }
      for (int64_t row = 0; row < count; row += kWidth) {
        const D sums = load(last + row);
        store(last + row, kLog ? M::log(sums) : 1.0 / sums);
      }
      const double* from = kLog ? shifted : exps;
      for (int64_t row = 0; row < count; ++row) {
        const D v = M::splat(last[row]);
        for (int64_t i = row * n; i < row * n + n; i += kWidth) {
          store(in + i, kLog ? load(from + i) - v : load(from + i) * v);
        }
      }
      std::memcpy(y, in, bytes);
    }
  }
};

/// map_doubles over a row, whose last vector is filled up with minus infinity.
template <int kWidth, bool kLog>
INTARSIA_INLINE void softmax_double_rows(const double* x, double* y, int64_t rows, int64_t n) {
  if constexpr (kWidth > 1) {
    using Short = ShortDoubleRows<kWidth, kLog>;
    if (n <= Short::kLongest) return Short::run(x, y, rows, n);
  }
  using M = DoubleMath<kWidth>;
  using D = typename M::D;
  const auto add = [](D a, D b) { return a + b; };
  const auto larger = [](D a, D b) { return b > a ? b : a; };
  const auto first = [](D v) {
    double lanes[kWidth];
    std::memcpy(lanes, &v, sizeof v);
    return lanes[0];
  };
  double fill[kWidth];
  for (double& lane : fill) lane = -std::numeric_limits<double>::infinity();
  for (; rows > 0; --rows, x += n, y += n) {
    D most = M::splat(fill[0]), sums = M::splat(0);
    map_doubles<kWidth, false>(x, y, n, fill, [&](D v) { return most = larger(most, v); });
    const double shift = first(fold_lanes<kWidth>(most, larger));
    map_doubles<kWidth, !kLog>(x, y, n, fill, [&](D v) {
      const D e = M::exp(v - shift);
      sums = sums + e;
      return e;
    });
    const double sum = first(fold_lanes<kWidth>(sums, add));
    const double last = kLog ? __builtin_log(sum) : 1.0 / sum;
    map_doubles<kWidth, true>(kLog ? x : y, y, n, fill,
                              [=](D v) { return kLog ? (v - shift) - last : v * last; });
  }
}

}  // namespace intarsia::cpu
