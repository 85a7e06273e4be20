// SPDX-License-Identifier: Apache-2.0
//
// CumSum, CumProd, see cumsum.h.
#include "kernels_cpu/reduction/cumsum.h"

#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/movement/movement_check.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {

template <class Op, class T>
Status Cumulative<Op, T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  const TensorView& axis = context.input(1);
  if (Status s = check_attributes<CumulativeAttributes>(context); !s) return s;
  if (Status s = check_elementwise(
          context, {.inputs = {t, index_type(axis)}, .required_inputs = 2, .outputs = {t}});
      !s) {
    return s;
  }
  if (axis.count() == 1) return {};
  return context.fail(Code::kWrongExtent, "elements of the axis", 1, axis.count(), 1);
}

template <class Op, class T>
Status Cumulative<Op, T>::run(const KernelContext& context) {
  using E = Element<T>;
  using V = typename E::Value;
  using Accumulator = std::conditional_t<std::is_floating_point_v<V>, double, V>;
  constexpr bool kProduct = std::is_same_v<Op, CumProdOp>;
  const auto& attributes = context.attributes<CumulativeAttributes>();
  const TensorView& operand = context.input(1);
  const int64_t axis =
      operand.type == DataType::kInt64 ? *operand.as<int64_t>() : *operand.as<int32_t>();
  if (!axis_in_range(context.input(0), axis)) {
    return context.fail(Code::kIndexOutOfRange, "axis out of range", context.input(0).rank, axis,
                        1);
  }
  const AxisLoop loop(context.input(0), axis);
  const bool exclusive = attributes.exclusive != 0;
  const bool reverse = attributes.reverse != 0;
  const auto* x = context.input(0).as<typename E::Stored>();
  auto* y = context.output(0).as<typename E::Stored>();
  loop.for_lines(context, [&](int64_t first, int64_t, int lanes) {
    Accumulator running[kAxisLanes];
    for (auto& value : running) value = kProduct ? 1 : 0;
    for (int64_t k = 0; k < loop.length; ++k) {
      const int64_t row = first + (reverse ? loop.length - 1 - k : k) * loop.inner;
      for (int lane = 0; lane < lanes; ++lane) {
        const auto value = static_cast<Accumulator>(E::load(x[row + lane]));
        const Accumulator before = running[lane];
        running[lane] = kProduct ? multiply_wrapped(before, value) : add_wrapped(before, value);
        y[row + lane] = E::store(static_cast<V>(exclusive ? before : running[lane]));
      }
    }
  });
  return {};
}

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_CUMULATIVE(Op)             \
  template struct Cumulative<Op, float>;    \
  template struct Cumulative<Op, double>;   \
  template struct Cumulative<Op, Float16>;  \
  template struct Cumulative<Op, BFloat16>; \
  template struct Cumulative<Op, int32_t>;  \
  template struct Cumulative<Op, int64_t>;  \
  template struct Cumulative<Op, uint32_t>; \
  template struct Cumulative<Op, uint64_t>
INTARSIA_CUMULATIVE(CumSumOp);
INTARSIA_CUMULATIVE(CumProdOp);

}  // namespace intarsia::cpu
