// SPDX-License-Identifier: Apache-2.0
//
// ReduceMax ReduceMin ReduceLogSum ReduceLogSumExp. LogSumExp keeps the largest exponent seen and
// the sum relative to it, so that nothing overflows in one pass.
#include <cmath>

#include "kernels_cpu/reduction/reduce_run.h"

namespace intarsia::cpu {
namespace {

template <class V>
constexpr V lowest() {
  using Limits = std::numeric_limits<V>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}
template <class V>
constexpr V highest() {
  using Limits = std::numeric_limits<V>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

}  // namespace

template <class V>
struct Reducer<ReduceMaxOp, V> {
  using Accumulator = V;
  static V identity() { return lowest<V>(); }
  static V step(V largest, V value) {
    return (value > largest || value != value) ? value : largest;
  }
  static V merge(V a, V b) { return step(a, b); }
  static V finish(V largest, int64_t) { return largest; }
};

template <class V>
struct Reducer<ReduceMinOp, V> {
  using Accumulator = V;
  static V identity() { return highest<V>(); }
  static V step(V smallest, V value) {
    return (value < smallest || value != value) ? value : smallest;
  }
  static V merge(V a, V b) { return step(a, b); }
  static V finish(V smallest, int64_t) { return smallest; }
};

template <class V>
struct Reducer<ReduceLogSumOp, V> {
  using Accumulator = double;
  static double identity() { return 0; }
  static double step(double sum, V value) { return sum + static_cast<double>(value); }
  static double merge(double a, double b) { return a + b; }
  static V finish(double sum, int64_t) { return static_cast<V>(std::log(sum)); }
};

template <class V>
struct Reducer<ReduceLogSumExpOp, V> {
  /// exp(largest) * sum is the sum so far.
  struct Accumulator {
    double largest;
    double sum;
  };
  static Accumulator identity() { return {lowest<double>(), 0}; }
  static Accumulator step(Accumulator a, V value) { return merge(a, {value, 1}); }
  static Accumulator merge(Accumulator a, Accumulator b) {
    if (a.largest == b.largest) return {a.largest, a.sum + b.sum};  // infinities too
    if (a.largest > b.largest) return {a.largest, a.sum + b.sum * std::exp(b.largest - a.largest)};
    return {b.largest, b.sum + a.sum * std::exp(a.largest - b.largest)};  // NaN too: it stays NaN
  }
  static V finish(Accumulator a, int64_t) { return static_cast<V>(std::log(a.sum) + a.largest); }
};

INTARSIA_REDUCE_FLOATS(ReduceMaxOp);
INTARSIA_REDUCE_INTEGERS(ReduceMaxOp);
template struct Reduce<ReduceMaxOp, int8_t>;
template struct Reduce<ReduceMaxOp, uint8_t>;
template struct Reduce<ReduceMaxOp, bool>;
INTARSIA_REDUCE_FLOATS(ReduceMinOp);
INTARSIA_REDUCE_INTEGERS(ReduceMinOp);
template struct Reduce<ReduceMinOp, int8_t>;
template struct Reduce<ReduceMinOp, uint8_t>;
template struct Reduce<ReduceMinOp, bool>;
INTARSIA_REDUCE_FLOATS(ReduceLogSumOp);
INTARSIA_REDUCE_FLOATS(ReduceLogSumExpOp);

}  // namespace intarsia::cpu
