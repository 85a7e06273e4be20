// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/shape/extents.h"

#include "core/operators/shape/shape.h"
#include "core/runtime/operand_check.h"

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
