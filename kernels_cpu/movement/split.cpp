// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/movement/split.h"

#include "core/operators/movement/movement.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/common/width_instances.h"
#include "kernels_cpu/movement/movement_check.h"

namespace intarsia::cpu {

template <class T>
Status Split<T>::check(const KernelContext& context) {
  constexpr KernelType kType = kernel_type_of<T>;
  if (Status s = check_attributes<SplitAttributes>(context); !s) return s;
  if (Status s = check_operand_types(context, {.inputs = {kType, DataType::kInt64},
                                               .outputs = {kType},
                                               .required_outputs = 0,
                                               .variadic_outputs = true});
      !s) {
    return s;
  }
  // With input `split` the extents follow from its elements: `run` checks them.
  return context.input(1).present() ? Status() : check_extents<ops::Split>(context);
}

template <class T>
Status Split<T>::run(const KernelContext& context) {
  using E = typename T::Element;
  if (Status s = check_extents<ops::Split>(context); !s) return s;
  const TensorView& x = context.input(0);
  const auto& a = context.attributes<SplitAttributes>();
  const int axis = a.axis < 0 ? a.axis + x.rank : a.axis;
  const int parts = a.num_outputs != 0 ? a.num_outputs : context.output_count();
  const int64_t outer = span_count(x, 0, axis);
  const int64_t inner = span_count(x, axis + 1, x.rank);
  const int64_t row = x.extents[axis] * inner;
  const E* in = x.as<const E>();
  for (int i = 0; i < context.output_count(); ++i) {
    const int64_t extent =
        context.input(1).present()
            ? context.input(1).as<const int64_t>()[i]
            : ops::Split::even_part<CheckedInt>(x.extents[axis], parts, i).value();
    const int64_t part = extent * inner;
    if (context.output(i).present()) {
      StridedCopy copy;
      copy.add(outer, part, row);
      copy.add(part, 1, 1);
      strided_copy(context, copy, context.output(i).as<E>(), in);
    }
    in += part;
  }
  return {};
}

INTARSIA_FOR_WIDTHS(Split);

}  // namespace intarsia::cpu
