// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/movement.h"

namespace intarsia::cuda {

Status check_copy(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (!x.present() || !y.present()) {
    return context.fail(Code::kCorruptPlan, "required operand is missing", 1, 0);
  }
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
  for (int i = 0; i <= context.input_count(); ++i) {
    const TensorView& view = i < context.input_count() ? context.input(i) : context.output(0);
    if (!view.present()) {
      return context.fail(Code::kCorruptPlan, "required operand is missing", 1, 0, i);
    }
    if (KernelType(W).accepts(view.type)) continue;
    return context.fail(Code::kWrongType, "element type of the operand", static_cast<int64_t>(W),
                        static_cast<int64_t>(view.type), i);
  }
  if (!context.has_attributes<AxisAttributes>()) {
    return context.fail(Code::kCorruptPlan, "bytes of attributes", sizeof(AxisAttributes),
                        context.attribute_bytes());
  }
  cpu::ShapeAgreement agreement(context);
  return ops::Concat::infer(agreement);
}

template struct Concat<ElementWidth::k8>;
template struct Concat<ElementWidth::k16>;
template struct Concat<ElementWidth::k32>;
template struct Concat<ElementWidth::k64>;

}  // namespace intarsia::cuda
