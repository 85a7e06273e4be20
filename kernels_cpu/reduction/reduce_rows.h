// SPDX-License-Identifier: Apache-2.0
//
// Reductions of many short rows of neighbours, kShortRows at a time: each by some lanes, which are
// folded for all rows together. Rows shorter than a vector are taken side by side instead. Order
// and number of lanes are the same for every instruction set.
#pragma once

#include "kernels_cpu/common/lane_vector.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/reduction/reduce_loop.h"

namespace intarsia::cpu {

/// Rows up to so long are taken kShortRows together: folding the lanes of each by itself would take
/// longer than the row.
template <class T>
inline constexpr int64_t kShortRow = kIsHalf<T> ? 256 : 1024;
inline constexpr int64_t kShortRows = 8;
/// Lanes that take turns in a row: two vectors of AVX2, for each waits for its own last step.
template <class A>
inline constexpr int kShortLanes = sizeof(A) < 8 ? 16 : 8;

/// Begins the last lanes with the last `count` elements before `end`, count < kShortLanes, the
/// others with `none`. Elements before those are read too, where there are any (`readable`), and
/// dropped: a loop of `count` steps would be no vector code.
template <class A, class Stored, class Step>
void start_lanes(A* lanes, const Stored* end, int64_t count, bool readable, A none, Step step) {
  constexpr int kN = kShortLanes<A>;
  const auto first = static_cast<int32_t>(kN - count);
  const Stored* x = end - kN;
  if (!readable) {
    for (int32_t i = 0; i < kN; ++i) lanes[i] = i < first ? none : step(none, end[i - kN]);
    return;
  }
  INTARSIA_INDEPENDENT
  for (int32_t i = 0; i < kN; ++i) {
    const A sum = step(none, x[i]);
    lanes[i] = i < first ? none : sum;
  }
}

/// sums[row] = merge of parts[4 * row] to parts[4 * row + 3], for kShortRows rows.
template <int kBytes, class A, class Merge>
void merge_fours(const A* parts, A* sums, Merge merge) {
  if constexpr (sizeof(A) < 4 || 4 * sizeof(A) > kBytes) {
    for (int64_t row = 0; row < kShortRows; ++row) {
      const A* part = parts + 4 * row;
      sums[row] = merge(merge(part[0], part[1]), merge(part[2], part[3]));
    }
  } else {
    using L = LaneVector<A, 4>;
    const auto merge_pairs = [&](const A* from, A* to) {
      typename L::V low, high, even, odd;
      A left[4], right[4];
      L::load(from, low);
      L::load(from + 4, high);
      L::take_apart(low, high, even, odd);
      L::store(left, even);
      L::store(right, odd);
      for (int i = 0; i < 4; ++i) to[i] = merge(left[i], right[i]);
    };
    A pairs[kShortRows * 2];
    for (int64_t row = 0; row < kShortRows; row += 2) merge_pairs(parts + 4 * row, pairs + 2 * row);
    for (int64_t row = 0; row < kShortRows; row += 4) merge_pairs(pairs + 2 * row, sums + row);
  }
}

/// The same of rows that are shorter than a vector, side by side.
template <class E, class Reducer, class Step>
void reduce_tiny_rows(const typename E::Stored* x, typename E::Stored* y, int64_t rows,
                      int64_t length, Reducer reducer, Step step) {
  using A = typename Reducer::Accumulator;
  A sums[kShortRows];
  if (rows == kShortRows) {
    for (int64_t row = 0; row < kShortRows; ++row) {
      sums[row] = step(reducer.identity(), x[row * length]);
    }
    for (int64_t i = 1; i < length; ++i) {
      INTARSIA_INDEPENDENT
      for (int64_t row = 0; row < kShortRows; ++row) {
        sums[row] = step(sums[row], x[row * length + i]);
      }
    }
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      sums[row] = step(reducer.identity(), x[row * length]);
      for (int64_t i = 1; i < length; ++i) sums[row] = step(sums[row], x[row * length + i]);
    }
  }
  for (int64_t row = 0; row < rows; ++row) y[row] = E::store(reducer.finish(sums[row], length));
}

/// y = finish(reduction) of at most kShortRows rows of `length` neighbours, one after another.
/// `before`: how many elements of the operand lie before x; kBytes: of a vector.
template <int kBytes, class E, class Reducer, class Step>
void reduce_short_rows(const typename E::Stored* x, typename E::Stored* y, int64_t rows,
                       int64_t length, int64_t before, Reducer reducer, Step step) {
  using A = typename Reducer::Accumulator;
  constexpr int kN = kShortLanes<A>;
  const auto merge = [=](A a, A b) { return reducer.merge(a, b); };
  // By vectors: what is stored by parts of a vector can be loaded as one only after a while.
  constexpr int kMost = kBytes / static_cast<int>(sizeof(A)), kWidth = kMost < kN ? kMost : kN;
  using L = LaneVector<A, (sizeof(A) < 4) ? 1 : kWidth>;
  typename L::V none;
  L::fill(none, reducer.identity());
  A fours[kShortRows * 4], sums[kShortRows];
  for (int64_t i = rows * 4; i < kShortRows * 4; ++i) fours[i] = reducer.identity();
  const int64_t whole = length / kN, rest = length % kN;
  for (int64_t row = 0; row < rows; ++row, x += length) {
    A lanes[kN];
    if (rest > 0) {
      start_lanes(lanes, x + length, rest, before + (row + 1) * length >= kN, reducer.identity(),
                  step);
    } else {
      for (int i = 0; i < kN; i += L::kLanes) L::store(lanes + i, none);
    }
    step_rows(lanes, x, kN, whole, kN, step);
    if constexpr (kN > 8) {
      for (int i = 0; i < 8; ++i) lanes[i] = merge(lanes[i], lanes[i + 8]);
    }
    for (int i = 0; i < 4; ++i) fours[row * 4 + i] = merge(lanes[i], lanes[i + 4]);
  }
  merge_fours<kBytes>(fours, sums, merge);
  for (int64_t row = 0; row < rows; ++row) y[row] = E::store(reducer.finish(sums[row], length));
}

/// Whether rows are of such elements and so short that sum_short_rows is faster.
template <class T, class Reducer>
constexpr bool joins_rows(int64_t length) {
  constexpr bool kJoins = requires(float x) {
    Reducer::join(x, x);
  };
  return kJoins && std::is_same_v<T, float> && length >= 8 && length < 32;
}

/// The same of floats, four of which a reducer joins (ReduceLoop::Step): neighbours, those of four
/// rows at once, so that a vector of their sums is one of the rows. Nothing here gains by longer
/// vectors, so there is one copy for all. REQUIRES: joins_rows(length).
template <class Reducer>
[[gnu::noinline]] void sum_short_rows(const float* x, float* y, int64_t rows, int64_t length,
                                      Reducer reducer) {
  using F = LaneVector<float, 4>;
  using D = LaneVector<double, 4>;
  using Mask = LaneVector<int32_t, 4>;
  const auto join_pairs = [](typename F::V& a, const typename F::V& b) {
    typename F::V even, odd;
    F::take_apart(a, b, even, odd);
    a = Reducer::join(even, odd);
  };
  // The last four elements come first, without those that come again.
  const int64_t again = -length & 3;
  typename Mask::V first, all;
  Mask::make(first, [=](int i) { return i < again ? 0 : -1; });
  Mask::fill(all, -1);
  for (int64_t row = 0; row < rows; row += 4) {
    const float* r0 = x + row * length;
    const float* r1 = row + 1 < rows ? r0 + length : r0;
    const float* r2 = row + 2 < rows ? r1 + length : r1;
    const float* r3 = row + 3 < rows ? r2 + length : r2;
    typename D::V sums = {}, wide;
    typename Mask::V mask = first;
    int64_t step = 4 - again;
    for (int64_t i = length - 4; i >= 0; i -= step, step = 4, mask = all) {
      const auto load = [&](const float* from, typename F::V& v) {
        typename Mask::V bits;
        std::memcpy(&bits, from, sizeof bits);
        bits &= mask;
        std::memcpy(&v, &bits, sizeof bits);
      };
      typename F::V a, b, c, d;
      load(r0 + i, a), load(r1 + i, b), load(r2 + i, c), load(r3 + i, d);
      join_pairs(a, b);
      join_pairs(c, d);
      join_pairs(a, c);
      wide = __builtin_convertvector(a, typename D::V);
      sums += wide;
    }
    float results[4];
    for (int i = 0; i < 4; ++i) results[i] = reducer.finish(sums[i], length);
    std::memcpy(y + row, results, static_cast<size_t>(rows - row < 4 ? rows - row : 4) * sizeof *y);
  }
}

/// The same of elements of any type and of any length up to kShortRow; halves as floats.
template <int kBytes, class T, class Reducer>
void reduce_rows(Isa isa, const typename Element<T>::Stored* x, typename Element<T>::Stored* y,
                 int64_t rows, int64_t length, int64_t before, Reducer reducer) {
  if constexpr (kIsHalf<T>) {
    constexpr int64_t kBefore = kShortLanes<float>;
    float block[kBefore + kShortRows * kShortRow<T>], results[kShortRows];
    for (int64_t i = 0; i < kBefore; ++i) block[i] = 0;
    to_floats(isa, x, block + kBefore, rows * length);
    const float* values = block + kBefore;
    bool done = false;
    if constexpr (joins_rows<float, Reducer>(8)) {
      done = joins_rows<float, Reducer>(length);
      if (done) sum_short_rows(values, results, rows, length, reducer);
    }
    if (!done) reduce_rows<kBytes, float>(isa, values, results, rows, length, kBefore, reducer);
    from_floats(isa, results, y, rows);
  } else {
    using E = Element<T>;
    const auto load = [](typename E::Stored stored) { return E::load(stored); };
    const ReduceLoop::Step<Reducer, decltype(load)> step{reducer, load};
    if (length < 8) return reduce_tiny_rows<E>(x, y, rows, length, reducer, step);
    reduce_short_rows<kBytes, E>(x, y, rows, length, before, reducer, step);
  }
}

}  // namespace intarsia::cpu
