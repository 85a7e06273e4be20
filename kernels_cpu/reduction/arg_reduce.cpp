// SPDX-License-Identifier: Apache-2.0
//
// ArgMax, ArgMin, see arg_reduce.h.
#include "kernels_cpu/reduction/arg_reduce.h"

#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

/// True if `value` takes the place of `best`, found before it.
template <class Op, class V>
bool replaces(V value, V best, bool last) {
  if (value != value) return last || best == best;
  if (last && value == best) return true;
  return std::is_same_v<Op, ArgMaxOp> ? value > best : value < best;
}

}  // namespace

template <class Op, class T>
Status ArgReduce<Op, T>::check(const KernelContext& context) {
  const OperandTypes types{.inputs = {kernel_type_of<T>}, .outputs = {DataType::kInt64}};
  if (Status s = check_operand_types(context, types); !s) return s;
  if (Status s = check_attributes<ArgReduceAttributes>(context); !s) return s;
  const TensorView& x = context.input(0);
  const int64_t axis = context.attributes<ArgReduceAttributes>().axis;
  if (!axis_in_range(x, axis)) {
    return context.fail(Code::kIndexOutOfRange, "axis out of range", x.rank, axis, 0);
  }
  const AxisLoop loop(x, axis);
  if (context.output(0).count() != loop.lines()) {
    return context.fail(Code::kWrongExtent, "elements of the output", loop.lines(),
                        context.output(0).count(), context.input_count());
  }
  if (loop.length == 0 && loop.lines() > 0) {
    return context.fail(Code::kWrongExtent, "extent of the axis to search", 1, 0, 0);
  }
  return {};
}

template <class Op, class T>
Status ArgReduce<Op, T>::run(const KernelContext& context) {
  using E = Element<T>;
  const auto& attributes = context.attributes<ArgReduceAttributes>();
  const bool last = attributes.select_last_index != 0;
  const AxisLoop loop(context.input(0), attributes.axis);
  const auto* x = context.input(0).as<typename E::Stored>();
  auto* y = context.output(0).as<int64_t>();
  if (loop.length == 0) return {};
  loop.for_lines(context, [&](int64_t first, int64_t line, int lanes) {
    typename E::Value best[kAxisLanes];
    int64_t index[kAxisLanes] = {};
    for (int lane = 0; lane < lanes; ++lane) best[lane] = E::load(x[first + lane]);
    for (int64_t k = 1; k < loop.length; ++k) {
      for (int lane = 0; lane < lanes; ++lane) {
        const auto value = E::load(x[first + k * loop.inner + lane]);
        if (replaces<Op>(value, best[lane], last)) {
          best[lane] = value;
          index[lane] = k;
        }
      }
    }
    for (int lane = 0; lane < lanes; ++lane) y[line + lane] = index[lane];
  });
  return {};
}

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_ARG_REDUCE(Op)            \
  template struct ArgReduce<Op, float>;    \
  template struct ArgReduce<Op, double>;   \
  template struct ArgReduce<Op, Float16>;  \
  template struct ArgReduce<Op, BFloat16>; \
  template struct ArgReduce<Op, int8_t>;   \
  template struct ArgReduce<Op, int16_t>;  \
  template struct ArgReduce<Op, int32_t>;  \
  template struct ArgReduce<Op, int64_t>;  \
  template struct ArgReduce<Op, uint8_t>;  \
  template struct ArgReduce<Op, uint16_t>; \
  template struct ArgReduce<Op, uint32_t>; \
  template struct ArgReduce<Op, uint64_t>
INTARSIA_ARG_REDUCE(ArgMaxOp);
INTARSIA_ARG_REDUCE(ArgMinOp);

}  // namespace intarsia::cpu
