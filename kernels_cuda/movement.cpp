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
  if (Status status = check_attributes<AxisAttributes>(context); !status) return status;
  if (Status status = check_all_operands(context, W); !status) return status;
  return check_extents<ops::Concat>(context);
}

template struct Concat<ElementWidth::k8>;
template struct Concat<ElementWidth::k16>;
template struct Concat<ElementWidth::k32>;
template struct Concat<ElementWidth::k64>;

}  // namespace intarsia::cuda
