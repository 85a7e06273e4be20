// SPDX-License-Identifier: Apache-2.0
//
// ReduceSum ReduceMean ReduceProd ReduceL1 ReduceL2 ReduceSumSquare. An integer mean truncates
// towards zero; an integer L2 norm is the truncated root of the (wrapped) sum.
#include <cmath>

#include "kernels_cpu/reduction/reduce_run.h"

namespace intarsia::cpu {
namespace {

template <class V>
struct Sum {
  using Accumulator = SumOf<V>;
  static Accumulator identity() { return 0; }
  static Accumulator step(Accumulator sum, V value) {
    return add_wrapped(sum, static_cast<Accumulator>(value));
  }
  static Accumulator merge(Accumulator a, Accumulator b) { return add_wrapped(a, b); }
  static V finish(Accumulator sum, int64_t) { return static_cast<V>(sum); }
};

template <class V>
struct SumOfSquares : Sum<V> {
  using Accumulator = SumOf<V>;
  static Accumulator step(Accumulator sum, V value) {
    const auto factor = static_cast<Accumulator>(value);
    return add_wrapped(sum, multiply_wrapped(factor, factor));
  }
};

}  // namespace

template <class V>
struct Reducer<ReduceSumOp, V> : Sum<V> {};

template <class V>
struct Reducer<ReduceSumSquareOp, V> : SumOfSquares<V> {};

template <class V>
struct Reducer<ReduceMeanOp, V> : Sum<V> {
  static V finish(SumOf<V> sum, int64_t count) {
    if constexpr (std::is_unsigned_v<V>) {
      return static_cast<V>(static_cast<uint64_t>(sum) / static_cast<uint64_t>(count));
    } else if constexpr (std::is_integral_v<V>) {
      return static_cast<V>(static_cast<int64_t>(sum) / count);
    } else {
      return static_cast<V>(sum / static_cast<double>(count));
    }
  }
};

template <class V>
struct Reducer<ReduceL1Op, V> : Sum<V> {
  static SumOf<V> step(SumOf<V> sum, V value) {
    const auto term = static_cast<SumOf<V>>(value);
    if constexpr (std::is_integral_v<V>) {
      const auto magnitude =
          value < 0 ? Wide<V>{0} - static_cast<Wide<V>>(value) : static_cast<Wide<V>>(value);
      return add_wrapped(sum, static_cast<V>(magnitude));
    } else {
      return sum + std::fabs(term);
    }
  }
};

template <class V>
struct Reducer<ReduceL2Op, V> : SumOfSquares<V> {
  static V finish(SumOf<V> sum, int64_t) {
    const double root = std::sqrt(static_cast<double>(sum));
    if constexpr (std::is_integral_v<V>) {
      return saturate_cast<V>(root);
    } else {
      return static_cast<V>(root);
    }
  }
};

template <class V>
struct Reducer<ReduceProdOp, V> {
  using Accumulator = SumOf<V>;
  static Accumulator identity() { return 1; }
  static Accumulator step(Accumulator product, V value) {
    return multiply_wrapped(product, static_cast<Accumulator>(value));
  }
  static Accumulator merge(Accumulator a, Accumulator b) { return multiply_wrapped(a, b); }
  static V finish(Accumulator product, int64_t) { return static_cast<V>(product); }
};

INTARSIA_REDUCE_FLOATS(ReduceSumOp);
INTARSIA_REDUCE_INTEGERS(ReduceSumOp);
INTARSIA_REDUCE_FLOATS(ReduceMeanOp);
INTARSIA_REDUCE_INTEGERS(ReduceMeanOp);
INTARSIA_REDUCE_FLOATS(ReduceProdOp);
INTARSIA_REDUCE_INTEGERS(ReduceProdOp);
INTARSIA_REDUCE_FLOATS(ReduceL1Op);
INTARSIA_REDUCE_INTEGERS(ReduceL1Op);
INTARSIA_REDUCE_FLOATS(ReduceL2Op);
INTARSIA_REDUCE_INTEGERS(ReduceL2Op);
INTARSIA_REDUCE_FLOATS(ReduceSumSquareOp);
INTARSIA_REDUCE_INTEGERS(ReduceSumSquareOp);

}  // namespace intarsia::cpu
