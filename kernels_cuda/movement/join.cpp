// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/movement/join.h"

namespace intarsia::cuda {

bool supports_split(const KernelContext& context) {
  for (int i = 0; context.input(1).present() && i < context.output_count(); ++i) {
    if (!context.output(i).present()) return false;
  }
  return true;
}

Status check_split(const KernelContext& context, ElementWidth width) {
  if (Status status = check_operand_types<ops::Split>(context, {.inputs = {width, DataType::kInt64},
                                                                .outputs = {width},
                                                                .required_outputs = 0,
                                                                .variadic_outputs = true});
      !status) {
    return status;
  }
  if (!context.input(1).present()) return check_extents<ops::Split>(context);
  const TensorView& x = context.input(0);
  int axis = 0;
  const ShapeContext shapes(context);
  if (Status status =
          ops::normalize_axis(shapes, context.attributes<SplitAttributes>().axis, x.rank, axis);
      !status) {
    return status;
  }
  int64_t sum = 0;
  for (int i = 0; i < context.output_count(); ++i) {
    const TensorView& y = context.output(i);
    const int operand = context.input_count() + i;
    if (!y.present()) {
      return context.fail(Code::kUnsupported, "a part that is left out", 0, 0, operand);
    }
    if (y.rank != x.rank) return context.fail(Code::kWrongRank, "rank", x.rank, y.rank, operand);
    for (int k = 0; k < x.rank; ++k) {
      if (k != axis && y.extents[k] != x.extents[k]) {
        return context.fail(Code::kWrongExtent, "extent", x.extents[k], y.extents[k], operand, k);
      }
    }
    sum += y.extents[axis];
  }
  if (sum == x.extents[axis]) return {};
  return context.fail(Code::kWrongExtent, "sum of split", x.extents[axis], sum, 1);
}

}  // namespace intarsia::cuda
