// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/split.h"

#include "core/operators/movement.h"
#include "kernels_cpu/movement_check.h"
#include "kernels_cpu/strided_copy.h"
#include "kernels_cpu/width_instances.h"

namespace intarsia::cpu {

template <class T>
Status Split<T>::check(const KernelContext& context) {
  constexpr KernelType kType = kernel_type_of<T>;
  if (Status s = check_attributes<SplitAttributes>(context); !s) return s;
  if (context.input_count() < 1 || context.input_count() > 2) {
    return context.fail(Code::kCorruptPlan, "inputs", 2, context.input_count());
  }
  const TensorView& x = context.input(0);
  const TensorView& split = context.input(1);
  for (int i = 0; i <= context.output_count(); ++i) {
    const TensorView& view = i == 0 ? x : context.output(i - 1);
    if (i > 0 && !view.present()) continue;
    if (!kType.accepts(view.type)) {
      return context.fail(Code::kWrongType, "element type of the operand", kType.code,
                          static_cast<int64_t>(view.type), i);
    }
    if (view.rank > kMaxRank) {
      return context.fail(Code::kWrongRank, "rank of the operand", kMaxRank, view.rank, i);
    }
  }
  if (split.present() && split.type != DataType::kInt64) {
    return context.fail(Code::kWrongType, "element type of split",
                        static_cast<int64_t>(DataType::kInt64), static_cast<int64_t>(split.type),
                        1);
  }
  // With input `split` the extents follow from its elements: `run` checks them.
  return split.present() ? Status() : check_extents<ops::Split>(context);
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
    const int64_t extent = context.input(1).present()
                               ? context.input(1).as<const int64_t>()[i]
                               : ops::Split::even_part<int64_t>(x.extents[axis], parts, i);
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
