// SPDX-License-Identifier: Apache-2.0
//
// Split: one tensor, cut along one axis into as many parts as there are outputs. T is a Width;
// elements are copied as bytes, on the caller's threads.
// https://onnx.ai/onnx/operators/onnx__Split.html
#include "core/kernel_list.h"
#include "core/operators/movement/concat_split.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/movement/row_parts.h"

namespace intarsia::cpu {
namespace {

bool cut_short_rows(const KernelContext& context, int64_t rows) {
  return copy_row_parts(
      context, context.input(0), rows, context.output_count(),
      [&](int i) -> const TensorView& { return context.output(i); },
      [](const std::byte* row, int64_t row_bytes, std::byte* part, int64_t bytes, int64_t count) {
        copy_runs(part, bytes, row, row_bytes, count, bytes);
      });
}

template <class T>
struct Split {
  static constexpr KernelId id{"Split", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    if (Status s = check_operand_types<ops::Split>(context, {.inputs = {kType, DataType::kInt64},
                                                             .outputs = {kType},
                                                             .required_outputs = 0,
                                                             .variadic_outputs = true});
        !s) {
      return s;
    }
    // With input `split` the extents follow from its elements: `run` checks them.
    return context.input(1).present() ? Status() : check_extents<ops::Split>(context);
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    if (Status s = check_extents<ops::Split>(context); !s) return s;
    const TensorView& x = context.input(0);
    const auto& a = context.attributes<SplitAttributes>();
    const int axis = a.axis < 0 ? a.axis + x.rank : a.axis;
    const int parts = a.num_outputs != 0 ? a.num_outputs : context.output_count();
    const int64_t outer = span_count(x, 0, axis);
    if (cut_short_rows(context, outer)) return {};
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
};

}  // namespace

extern const KernelList split_kernels;
constinit const KernelList split_kernels = kernel_list<Each<Split, Widths>>();

}  // namespace intarsia::cpu
