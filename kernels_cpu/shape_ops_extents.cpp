// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/shape_ops_extents.h"

#include "core/operand_check.h"
#include "core/operators/shape_ops.h"

namespace intarsia::cpu {
namespace {

Status check_int64_output(const KernelContext& context, int64_t count) {
  const TensorView& output = context.output(0);
  if (output.type != DataType::kInt64) {
    return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(DataType::kInt64),
                        static_cast<int64_t>(output.type), context.input_count());
  }
  if (output.count() != count) {
    return context.fail(Code::kWrongExtent, "number of elements", count, output.count(),
                        context.input_count());
  }
  return {};
}

}  // namespace

Status ShapeOf::check(const KernelContext& context) {
  if (Status status = check_attributes<ShapeAttributes>(context); !status) return status;
  const AxisRange axes(context.attributes<ShapeAttributes>(), context.input(0).rank);
  return check_int64_output(context, axes.end - axes.start);
}

Status ShapeOf::run(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const AxisRange axes(context.attributes<ShapeAttributes>(), input.rank);
  int64_t* output = context.output(0).as<int64_t>();
  for (int axis = axes.start; axis < axes.end; ++axis) *output++ = input.extents[axis];
  return {};
}

Status Size::check(const KernelContext& context) {
  return check_int64_output(context, 1);
}

Status Size::run(const KernelContext& context) {
  *context.output(0).as<int64_t>() = context.input(0).count();
  return {};
}

}  // namespace intarsia::cpu
