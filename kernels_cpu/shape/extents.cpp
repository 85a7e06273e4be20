// SPDX-License-Identifier: Apache-2.0
//
// Shape and Size: extents as int64 elements. Nothing of the input but its extents is read, so one
// kernel serves every element type.
#include "core/operators/shape/extents.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"

namespace intarsia::cpu {
namespace {

constexpr OperandTypes kExtentsOf{.inputs = {kAnyType}, .outputs = {DataType::kInt64}};

struct ShapeOf {
  static constexpr KernelId id{"Shape", "", {}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::ShapeOf>(context, kExtentsOf);
  }
  static Status run(const KernelContext& context) {
    const TensorView& input = context.input(0);
    const AxisRange axes(context.attributes<ShapeAttributes>(), input.rank);
    int64_t* output = context.output(0).as<int64_t>();
    for (int axis = axes.start; axis < axes.end; ++axis) *output++ = input.extents[axis];
    return {};
  }
};

struct Size {
  static constexpr KernelId id{"Size", "", {}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Size>(context, kExtentsOf);
  }
  static Status run(const KernelContext& context) {
    *context.output(0).as<int64_t>() = context.input(0).count();
    return {};
  }
};

}  // namespace

extern const KernelList extents_kernels;
constinit const KernelList extents_kernels = kernel_list<ShapeOf, Size>();

}  // namespace intarsia::cpu
