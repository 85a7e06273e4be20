// SPDX-License-Identifier: Apache-2.0
//
// ReduceMax ReduceMin ReduceLogSum ReduceLogSumExp. Max and Min propagate NaN. LogSumExp keeps the
// largest exponent seen and the sum relative to it, so that nothing overflows in one pass.
// Specification: https://onnx.ai/onnx/operators/onnx__ReduceMax.html and its relatives
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cpu/reduction/reduce.h"

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

template <class V>
struct Largest {
  using Accumulator = V;
  static V identity() { return lowest<V>(); }
  static V step(V largest, V value) {
    return (value > largest || value != value) ? value : largest;
  }
  static V merge(V a, V b) { return step(a, b); }
  static V finish(V largest, int64_t) { return largest; }
};

template <class V>
struct Smallest {
  using Accumulator = V;
  static V identity() { return highest<V>(); }
  static V step(V smallest, V value) {
    return (value < smallest || value != value) ? value : smallest;
  }
  static V merge(V a, V b) { return step(a, b); }
  static V finish(V smallest, int64_t) { return smallest; }
};

template <class V>
struct LogSum {
  using Accumulator = double;
  static double identity() { return 0; }
  static double step(double sum, V value) { return sum + static_cast<double>(value); }
  static double merge(double a, double b) { return a + b; }
  static V finish(double sum, int64_t) { return static_cast<V>(std::log(sum)); }
};

template <class V>
struct LogSumExp {
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

struct ReduceLogSumOp {
  static constexpr std::string_view name = "ReduceLogSum";
  template <class V>
  using Reducer = LogSum<V>;
};
struct ReduceLogSumExpOp {
  static constexpr std::string_view name = "ReduceLogSumExp";
  template <class V>
  using Reducer = LogSumExp<V>;
};
struct ReduceMaxOp {
  static constexpr std::string_view name = "ReduceMax";
  template <class V>
  using Reducer = Largest<V>;
};
struct ReduceMinOp {
  static constexpr std::string_view name = "ReduceMin";
  template <class V>
  using Reducer = Smallest<V>;
};

}  // namespace

extern const KernelList reduce_extreme_kernels;
constinit const KernelList reduce_extreme_kernels =
    kernel_list<EachPair<Reduce, Types<ReduceLogSumOp, ReduceLogSumExpOp>, Floats>,
                EachPair<Reduce, Types<ReduceMaxOp, ReduceMinOp>,
                         Join<WideNumbers, Types<int8_t, uint8_t, bool>>>>();

}  // namespace intarsia::cpu
