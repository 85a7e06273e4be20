// SPDX-License-Identifier: Apache-2.0
//
// Reduce*: y[kept] = finish(sum over the reduced axes of step(x)), over any set of axes. For the
// sources that have the operators.
//
// An Op is the ONNX name and `Reducer<V>`: Accumulator, identity(), step(accumulator, value),
// merge(accumulator, accumulator), finish(accumulator, number of elements) and, if no elements have
// no result, kNeedsElements.
//
// Axes are an optional input whose values are read at run time; where they were not known to the
// converter the output's extents are set then. No elements give the neutral element (0, 1, the
// type's limit, -inf). Every output is computed by one thread in a fixed order: results do not
// depend on the number of threads.
#pragma once

#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/reduction/reduce_loop.h"

namespace intarsia::cpu {

template <class Op, class T>
struct Reduce {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    return check_reduction(context, kernel_type_of<T>);
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using R = typename Op::template Reducer<typename E::Value>;
    bool is_reduced[kMaxRank];
    if (Status s = resolve_reduction(context, is_reduced); !s) return s;
    const ReduceLoop loop(context.input(0), is_reduced);
    if (loop.kept.count == 0) return {};
    if constexpr (requires { requires R::kNeedsElements; }) {
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
};

}  // namespace intarsia::cpu
