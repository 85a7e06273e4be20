// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/shape_ops_extents.h"

#include "core/operand_check.h"
#include "core/operators/shape_ops.h"

namespace intarsia::cpu {
namespace {

constexpr OperandTypes kExtentsOf{.inputs = {kAnyType}, .outputs = {DataType::kInt64}};

}  // namespace

Status ShapeOf::check(const KernelContext& context) {
  return check_operands<ops::ShapeOf>(context, kExtentsOf);
}

Status ShapeOf::run(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const AxisRange axes(context.attributes<ShapeAttributes>(), input.rank);
  int64_t* output = context.output(0).as<int64_t>();
  for (int axis = axes.start; axis < axes.end; ++axis) *output++ = input.extents[axis];
  return {};
}

Status Size::check(const KernelContext& context) {
  return check_operands<ops::Size>(context, kExtentsOf);
}

Status Size::run(const KernelContext& context) {
  *context.output(0).as<int64_t>() = context.input(0).count();
  return {};
}

}  // namespace intarsia::cpu
