// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/movement/movement.h"

namespace intarsia::cuda {

Status check_copy(const KernelContext& context, ListOperand list) {
  const OperandTypes plain{.inputs = {kAnyType}, .outputs = {kAnyType}};
  const OperandTypes listed{.inputs = {kAnyType, DataType::kInt64},
                            .required_inputs = list == ListOperand::kRequired ? 2 : 1,
                            .outputs = {kAnyType}};
  return check_copy(context, list == ListOperand::kNone ? plain : listed);
}

Status check_repeat(const KernelContext& context, ElementWidth width, bool only_ones) {
  if (Status status = check_operand_types(
          context, {.inputs = {width, DataType::kInt64}, .required_inputs = 2, .outputs = {width}});
      !status) {
    return status;
  }
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  const int lead = output.rank - input.rank;
  if (lead < 0 || (!only_ones && lead != 0)) {
    return context.fail(Code::kWrongRank, "rank", input.rank, output.rank, context.input_count());
  }
  for (int axis = lead; axis < output.rank; ++axis) {
    const int32_t from = input.extents[axis - lead];
    const int32_t to = output.extents[axis];
    const bool valid = from == to || (only_ones ? from == 1 : from > 0 && to % from == 0);
    if (!valid) {
      return context.fail(Code::kWrongExtent, "output extent", from, to, context.input_count(),
                          axis);
    }
  }
  return {};
}

}  // namespace intarsia::cuda
