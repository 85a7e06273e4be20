// SPDX-License-Identifier: Apache-2.0
//
// Slice: for each listed axis the elements first, first + step, ... before or after `end`; negative
// steps count down. T is a Width; elements are copied as bytes, on the caller's threads.
// https://onnx.ai/onnx/operators/onnx__Slice.html
#include "core/operators/movement/slice.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/indexing/index_check.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct Slice {
  static constexpr KernelId id{"Slice", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    const KernelType index = index_type(context.input(1));
    return check_operand_types(
        context,
        {.inputs = {kType, index, index, index, index}, .required_inputs = 3, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    if (Status s = check_extents<ops::Slice>(context); !s) return s;
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    int64_t in_strides[kMaxRank], out_strides[kMaxRank];
    dense_strides(x, in_strides);
    dense_strides(y, out_strides);

    const ShapeContext values(context);
    const E* in = x.as<const E>();
    for (int64_t i = 0; i < context.input(1).count(); ++i) {
      int64_t axis = context.input(3).present() ? values.value(3, i).value() : i;
      if (axis < 0) axis += x.rank;
      const int64_t step = context.input(4).present() ? values.value(4, i).value() : 1;
      const auto range = ops::Slice::range<CheckedInt>(values.value(1, i), values.value(2, i), step,
                                                       x.extents[axis]);
      in += range.first.value() * in_strides[axis];
      // A step that leaves one element only is never taken, and may be huge.
      if (range.extent > 1) in_strides[axis] *= range.step;
    }
    StridedCopy copy;
    for (int axis = 0; axis < y.rank; ++axis) {
      copy.add(y.extents[axis], out_strides[axis], in_strides[axis]);
    }
    strided_copy(context, copy, y.as<E>(), in);
    return {};
  }
};

}  // namespace

extern const KernelList slice_kernels;
constinit const KernelList slice_kernels = kernel_list<Each<Slice, Widths>>();

}  // namespace intarsia::cpu
