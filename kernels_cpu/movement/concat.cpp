// SPDX-License-Identifier: Apache-2.0
//
// Concat: inputs of equal rank, joined along one axis. T is a Width; elements are copied as bytes,
// on the caller's threads. The output overlaps no input.
// https://onnx.ai/onnx/operators/onnx__Concat.html
#include "core/kernel_list.h"
#include "core/operators/movement/concat_split.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/movement/row_parts.h"

namespace intarsia::cpu {
namespace {

bool join_short_rows(const KernelContext& context, int64_t rows) {
  return copy_row_parts(
      context, context.output(0), rows, context.input_count(),
      [&](int i) -> const TensorView& { return context.input(i); },
      [](std::byte* row, int64_t row_bytes, const std::byte* part, int64_t bytes, int64_t count) {
        copy_runs(row, row_bytes, part, bytes, count, bytes);
      });
}

template <class T>
struct Concat {
  static constexpr KernelId id{"Concat", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::Concat>(context,
                                       {.inputs = {t}, .outputs = {t}, .variadic_inputs = true});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    const TensorView& y = context.output(0);
    int axis = context.attributes<ConcatAttributes>().axis;
    if (axis < 0) axis += y.rank;
    const int64_t outer = span_count(y, 0, axis);
    if (join_short_rows(context, outer)) return {};
    const int64_t inner = span_count(y, axis + 1, y.rank);
    const int64_t row = y.extents[axis] * inner;
    E* out = y.as<E>();
    for (int i = 0; i < context.input_count(); ++i) {
      const TensorView& x = context.input(i);
      const int64_t part = x.extents[axis] * inner;
      StridedCopy copy;
      copy.add(outer, row, part);
      copy.add(part, 1, 1);
      strided_copy(context, copy, out, x.as<const E>());
      out += part;
    }
    return {};
  }
};

}  // namespace

extern const KernelList concat_kernels;
constinit const KernelList concat_kernels = kernel_list<Each<Concat, Widths>>();

}  // namespace intarsia::cpu
