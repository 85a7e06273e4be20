// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of reductions for device code. A reducer has
//
//     Element, Result       what lies in memory
//     Accumulator           a partial result, of 8 bytes at most: shuffles move it
//     identity()            that of no elements
//     start(value, index)   that of one element, the index-th of those that are reduced
//     merge(a, b)           that of both
//     finish(a, count)      the number that is stored
#pragma once

#include <cmath>
#include <limits>

#include "core/operators/common/integers.h"
#include "kernels_cuda/common/packs.h"
#include "kernels_cuda/reduction/reduce.h"

namespace intarsia::cuda {

/// What numbers of T are computed in.
template <class T>
using NumberOf = std::conditional_t<std::is_same_v<T, Float16>, float, T>;

template <class T>
struct SumReducer {
  using Element = T;
  using Result = T;
  using V = NumberOf<T>;
  using Accumulator = V;
  INTARSIA_DEVICE static V identity() { return 0; }
  INTARSIA_DEVICE static V start(V value, int64_t) { return value; }
  INTARSIA_DEVICE static V merge(V a, V b) { return add_wrapped(a, b); }
  INTARSIA_DEVICE static V finish(V sum, int64_t) { return sum; }
};

template <class Op, class T>
struct Reducer : SumReducer<T> {};  // ReduceSum

template <class T>
struct Reducer<ReduceMeanOp, T> : SumReducer<T> {
  INTARSIA_DEVICE static float finish(float sum, int64_t count) {
    return sum / static_cast<float>(count);
  }
};
template <class T>
struct Reducer<ReduceL1Op, T> : SumReducer<T> {
  INTARSIA_DEVICE static float start(float value, int64_t) { return fabsf(value); }
};
template <class T>
struct Reducer<ReduceSumSquareOp, T> : SumReducer<T> {
  INTARSIA_DEVICE static float start(float value, int64_t) { return value * value; }
};
template <class T>
struct Reducer<ReduceL2Op, T> : Reducer<ReduceSumSquareOp, T> {
  INTARSIA_DEVICE static float finish(float sum, int64_t) { return sqrtf(sum); }
};
template <class T>
struct Reducer<ReduceLogSumOp, T> : SumReducer<T> {
  INTARSIA_DEVICE static float finish(float sum, int64_t) { return logf(sum); }
};
template <class T>
struct Reducer<ReduceProdOp, T> : SumReducer<T> {
  INTARSIA_DEVICE static float identity() { return 1; }
  INTARSIA_DEVICE static float merge(float a, float b) { return a * b; }
};

/// exp(largest) * sum is the sum so far, so that nothing overflows.
struct ExponentialSum {
  float largest, sum;
};
template <class T>
struct Reducer<ReduceLogSumExpOp, T> : SumReducer<T> {
  using Accumulator = ExponentialSum;
  INTARSIA_DEVICE static ExponentialSum identity() {
    return {-std::numeric_limits<float>::infinity(), 0};
  }
  INTARSIA_DEVICE static ExponentialSum start(float value, int64_t) { return {value, 1}; }
  INTARSIA_DEVICE static ExponentialSum merge(ExponentialSum a, ExponentialSum b) {
    if (a.largest == b.largest) return {a.largest, a.sum + b.sum};  // infinities too
    if (a.largest > b.largest) return {a.largest, a.sum + b.sum * expf(b.largest - a.largest)};
    return {b.largest, b.sum + a.sum * expf(a.largest - b.largest)};  // NaN too: it stays NaN
  }
  INTARSIA_DEVICE static float finish(ExponentialSum a, int64_t) { return logf(a.sum) + a.largest; }
};

/// What is more extreme than any other number, and beats it. NaN counts as most extreme.
template <class Op, class V>
struct Order {
  static constexpr bool largest = std::is_same_v<Op, ReduceMaxOp> || std::is_same_v<Op, ArgMaxOp>;
  INTARSIA_DEVICE static bool better(V a, V b) { return largest ? a > b : a < b; }
  INTARSIA_DEVICE static constexpr V worst() {
    using Limits = std::numeric_limits<V>;
    if constexpr (Limits::has_infinity) {
      return largest ? -Limits::infinity() : Limits::infinity();
    } else {
      return largest ? Limits::lowest() : Limits::max();
    }
  }
};

template <class Op, class T>
struct ExtremeValue : SumReducer<T> {
  using V = NumberOf<T>;
  INTARSIA_DEVICE static V identity() { return Order<Op, V>::worst(); }
  INTARSIA_DEVICE static V merge(V a, V b) { return Order<Op, V>::better(b, a) || b != b ? b : a; }
};
template <class T>
struct Reducer<ReduceMaxOp, T> : ExtremeValue<ReduceMaxOp, T> {};
template <class T>
struct Reducer<ReduceMinOp, T> : ExtremeValue<ReduceMinOp, T> {};

/// An element and its place; -1: none.
struct Placed {
  float value;
  int32_t place;
};
/// Where the extreme is, the first or the last of equal ones.
template <class Op, class T>
struct Extreme {
  using Element = T;
  using Result = int64_t;
  using Accumulator = Placed;
  bool last;

  INTARSIA_DEVICE Placed identity() const { return {0, -1}; }
  INTARSIA_DEVICE Placed start(float value, int64_t index) const {
    return {value, static_cast<int32_t>(index)};
  }
  INTARSIA_DEVICE Placed merge(Placed a, Placed b) const {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    const bool no_a = a.value != a.value, no_b = b.value != b.value;
    const bool equal = (no_a && no_b) || a.value == b.value;
    if (equal) return (a.place < b.place) == last ? b : a;
    return no_b || (!no_a && Order<Op, float>::better(b.value, a.value)) ? b : a;
  }
  INTARSIA_DEVICE int64_t finish(Placed a, int64_t) const { return a.place; }
};

}  // namespace intarsia::cuda
