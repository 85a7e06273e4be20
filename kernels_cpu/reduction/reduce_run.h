// SPDX-License-Identifier: Apache-2.0
//
// The members of `Reduce<Op, T>`, for the files that instantiate it. They specialise, before they
// instantiate, `Reducer<Op, V>`: Accumulator, identity(), step(accumulator, value),
// merge(accumulator, accumulator), and finish(accumulator, number of elements).
#pragma once

#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/reduction/reduce.h"
#include "kernels_cpu/reduction/reduce_loop.h"

namespace intarsia::cpu {

template <class Op, class V>
struct Reducer;

/// What sums of V are accumulated in.
template <class V>
using SumOf = std::conditional_t<std::is_floating_point_v<V>, double, V>;

template <class Op, class T>
Status Reduce<Op, T>::check(const KernelContext& context) {
  return check_reduction(context, kernel_type_of<T>);
}

template <class Op, class T>
Status Reduce<Op, T>::run(const KernelContext& context) {
  using E = Element<T>;
  using R = Reducer<Op, typename E::Value>;
  bool is_reduced[kMaxRank];
  if (Status s = resolve_reduction(context, is_reduced); !s) return s;
  const ReduceLoop loop(context.input(0), is_reduced);
  if (loop.kept.count == 0) return {};
  if constexpr (std::is_same_v<Op, ReduceMeanOp> && std::is_integral_v<T>) {
    if (loop.reduced.count == 0) {
      return context.fail(Code::kDivisionByZero, "elements of an integer mean", 1, 0, 0);
    }
  }
  const auto* x = context.input(0).as<typename E::Stored>();
  auto* y = context.output(0).as<typename E::Stored>();
  const int64_t row = loop.outputs_in_row();
  const int64_t groups = (row + kReduceLanes - 1) / kReduceLanes;
  context.parallel_for(loop.kept.count / row * groups, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t start = unit % groups * kReduceLanes;
      const int64_t first = unit / groups * row + start;
      const int lanes = row - start < kReduceLanes ? static_cast<int>(row - start) : kReduceLanes;
      typename R::Accumulator accumulators[kReduceLanes];
      loop.template accumulate<R>(x + loop.kept.offset(first), lanes, accumulators,
                                  [](typename E::Stored stored) { return E::load(stored); });
      for (int lane = 0; lane < lanes; ++lane) {
        y[first + lane] = E::store(R::finish(accumulators[lane], loop.reduced.count));
      }
    }
  });
  return {};
}

}  // namespace intarsia::cpu

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_REDUCE_FLOATS(Op)     \
  template struct Reduce<Op, float>;   \
  template struct Reduce<Op, double>;  \
  template struct Reduce<Op, Float16>; \
  template struct Reduce<Op, BFloat16>
#define INTARSIA_REDUCE_INTEGERS(Op)    \
  template struct Reduce<Op, int32_t>;  \
  template struct Reduce<Op, int64_t>;  \
  template struct Reduce<Op, uint32_t>; \
  template struct Reduce<Op, uint64_t>
