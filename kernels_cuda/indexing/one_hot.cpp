// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/indexing/one_hot.h"

namespace intarsia::cuda {

Status check_one_hot(const KernelContext& context, ElementWidth width) {
  const OperandTypes types{
      .inputs = {kAnyNumber, kAnyNumber, width}, .required_inputs = 3, .outputs = {width}};
  if (Status status = check_operand_types<ops::OneHot>(context, types); !status) return status;
  const TensorView& indices = context.input(0);
  const TensorView& y = context.output(0);
  if (!reads_indices(indices.type)) {
    return context.fail(Code::kUnsupported, "type of indices",
                        static_cast<int64_t>(DataType::kInt64), static_cast<int64_t>(indices.type),
                        0);
  }
  const int output = context.input_count();
  if (y.rank != indices.rank + 1) {
    return context.fail(Code::kWrongRank, "rank", indices.rank + 1, y.rank, output);
  }
  int axis = 0;
  const ShapeContext shapes(context);
  if (Status status =
          ops::normalize_axis(shapes, context.attributes<OneHotAttributes>().axis, y.rank, axis);
      !status) {
    return status;
  }
  if (Status status = ops::require_length(shapes, 2, 2, "elements of values"); !status) {
    return status;
  }
  for (int i = 0; i < indices.rank; ++i) {
    const int own = i < axis ? i : i + 1;
    if (y.extents[own] != indices.extents[i]) {
      return context.fail(Code::kWrongExtent, "extent", indices.extents[i], y.extents[own], output,
                          own);
    }
  }
  return {};
}

}  // namespace intarsia::cuda
