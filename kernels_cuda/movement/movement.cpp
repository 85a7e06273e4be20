// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/movement/movement.h"

namespace intarsia::cuda {

Status check_copy(const KernelContext& context, ListOperand list) {
  const OperandTypes plain{.inputs = {kAnyType}, .outputs = {kAnyType}};
  const OperandTypes listed{.inputs = {kAnyType, DataType::kInt64},
                            .required_inputs = list == ListOperand::kRequired ? 2 : 1,
                            .outputs = {kAnyType}};
  const bool has_list = list != ListOperand::kNone;
  if (Status status = check_operand_types(context, has_list ? listed : plain); !status) {
    return status;
  }
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (x.type != y.type) {
    return context.fail(Code::kWrongType, "element type of the copy", static_cast<int64_t>(x.type),
                        static_cast<int64_t>(y.type), context.input_count());
  }
  if (x.count() != y.count()) {
    return context.fail(Code::kWrongExtent, "elements of the copy", x.count(), y.count(),
                        context.input_count());
  }
  return {};
}

template <ElementWidth W>
Status Concat<W>::check(const KernelContext& context) {
  return check_operands<ops::Concat>(context,
                                     {.inputs = {W}, .outputs = {W}, .variadic_inputs = true});
}

template struct Concat<ElementWidth::k8>;
template struct Concat<ElementWidth::k16>;
template struct Concat<ElementWidth::k32>;
template struct Concat<ElementWidth::k64>;

}  // namespace intarsia::cuda
