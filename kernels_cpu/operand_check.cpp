// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/operand_check.h"

namespace intarsia::cpu {
namespace {

Status check_list(const KernelContext& context, std::initializer_list<KernelType> types,
                  int required, bool outputs) {
  const int first = outputs ? context.input_count() : 0;
  const int count = outputs ? context.output_count() : context.input_count();
  const auto view = [&](int i) { return outputs ? context.output(i) : context.input(i); };
  for (int i = 0; i < required; ++i) {
    if (!view(i).present()) {
      return context.fail(Code::kCorruptPlan, "required operand is missing", required, i,
                          first + i);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (!view(i).present()) continue;
    if (i >= static_cast<int>(types.size())) {
      return context.fail(Code::kCorruptPlan, "operands of the kernel",
                          static_cast<int64_t>(types.size()), count, first + i);
    }
    const KernelType expected = types.begin()[i];
    if (!expected.accepts(view(i).type)) {
      return context.fail(Code::kWrongType, "element type of the operand", expected.code,
                          static_cast<int64_t>(view(i).type), first + i);
    }
    if (view(i).rank > kMaxRank) {
      return context.fail(Code::kWrongRank, "rank of the operand", kMaxRank, view(i).rank,
                          first + i);
    }
  }
  return {};
}

}  // namespace

Status check_operand_types(const KernelContext& context, const OperandTypes& types) {
  if (Status status = check_list(context, types.inputs, types.required_inputs, false); !status) {
    return status;
  }
  return check_list(context, types.outputs, types.required_outputs, true);
}

Status ShapeAgreement::set_output(int output, DataType, const Shape<Dim>& shape) const {
  const TensorView& view = kernel_context_.output(output);
  if (!view.present()) return {};
  const int operand = kernel_context_.input_count() + output;
  if (view.rank != shape.rank) {
    return fail(Code::kWrongRank, "rank of the output", shape.rank, view.rank, operand);
  }
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (view.extents[axis] != shape[axis]) {
      return fail(Code::kWrongExtent, "extent of the output", shape[axis], view.extents[axis],
                  operand, axis);
    }
  }
  return {};
}

}  // namespace intarsia::cpu
