// SPDX-License-Identifier: Apache-2.0
//
// ReduceMax ReduceMin. Both propagate NaN.
// Specification: https://onnx.ai/onnx/operators/onnx__ReduceMax.html and its relatives
#include <limits>
#include <type_traits>

#include "core/kernel_list.h"
#include "kernels_cpu/common/widened.h"
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
    const V number = value > largest ? value : largest;  // one instruction, as written
    return value != value ? value : number;
  }
  static V merge(V a, V b) { return step(a, b); }
  static V finish(V largest, int64_t) { return largest; }
};

template <class V>
struct Smallest {
  using Accumulator = V;
  static V identity() { return highest<V>(); }
  static V step(V smallest, V value) {
    const V number = value < smallest ? value : smallest;  // one instruction, as written
    return value != value ? value : number;
  }
  static V merge(V a, V b) { return step(a, b); }
  static V finish(V smallest, int64_t) { return smallest; }
};

/// Bools as bytes of 0 and 1: no vector code is made of choices among bools.
template <template <class> class Of>
struct OfBools {
  using Accumulator = uint8_t;
  static uint8_t identity() { return Of<bool>::identity() ? 1 : 0; }
  static uint8_t step(uint8_t extreme, uint8_t value) { return Of<uint8_t>::step(extreme, value); }
  static uint8_t merge(uint8_t a, uint8_t b) { return step(a, b); }
  static bool finish(uint8_t extreme, int64_t) { return extreme != 0; }
};
template <template <class> class Of, class V>
using Extreme = std::conditional_t<std::is_same_v<V, bool>, OfBools<Of>, Of<V>>;

struct ReduceMaxOp {
  static constexpr std::string_view name = "ReduceMax";
  template <class V>
  using Reducer = Extreme<Largest, V>;
};
struct ReduceMinOp {
  static constexpr std::string_view name = "ReduceMin";
  template <class V>
  using Reducer = Extreme<Smallest, V>;
};

}  // namespace

extern const KernelList reduce_extreme_kernels;
constinit const KernelList reduce_extreme_kernels =
    kernel_list<EachPair<Reduce, Types<ReduceMaxOp, ReduceMinOp>,
                         Join<WideNumbers, Types<int8_t, uint8_t, bool>>>,
                OfHalves<Reduce<ReduceMaxOp, float>, Reduce<ReduceMinOp, float>>>();

}  // namespace intarsia::cpu
