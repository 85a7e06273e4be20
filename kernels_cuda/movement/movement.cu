// SPDX-License-Identifier: Apache-2.0
//
// One thread per element; neighbouring threads write neighbouring elements.
#include "kernels_cuda/movement/movement.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"

namespace intarsia::cuda {
namespace {

template <ElementWidth W>
struct ElementOf;
template <>
struct ElementOf<ElementWidth::k8> {
  using Type = uint8_t;
};
template <>
struct ElementOf<ElementWidth::k16> {
  using Type = uint16_t;
};
template <>
struct ElementOf<ElementWidth::k32> {
  using Type = uint32_t;
};
template <>
struct ElementOf<ElementWidth::k64> {
  using Type = uint64_t;
};

template <class T>
INTARSIA_GLOBAL gather_kernel(StridedAxes<1> axes, Global<const T> x, Global<T> y, int64_t count) {
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t at[1];
    axes.locate(i, at);
    y[i] = x[at[0]];
  }
}

/// Rows of `row` elements go to rows of `pitch` elements, from element `start` on.
template <class T>
INTARSIA_GLOBAL rows_kernel(int64_t row, int64_t pitch, int64_t start, Global<const T> x,
                            Global<T> y, int64_t count) {
  for (int64_t i = first_element(); i < count; i += element_step()) {
    y[i / row * pitch + start + i % row] = x[i];
  }
}

}  // namespace

template <ElementWidth W>
Status Transpose<W>::run(const KernelContext& context) {
  using T = typename ElementOf<W>::Type;
  const auto& attributes = context.attributes<TransposeAttributes>();
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  StridedAxes<1> axes;
  for (int axis = 0; axis < y.rank; ++axis) {
    const int from = ops::Transpose::source(attributes, y.rank, axis);
    axes.add(y.extents[axis], {broadcast_stride(x, x.rank, from)});
  }
  return launched(context,
                  launch(grid_for(y.count()), kThreads, stream_of(context), gather_kernel<T>, axes,
                         elements<T>(x), writable<T>(y), y.count()));
}

template <ElementWidth W>
Status Concat<W>::run(const KernelContext& context) {
  using T = typename ElementOf<W>::Type;
  const TensorView& y = context.output(0);
  int axis = context.attributes<AxisAttributes>().axis;
  if (axis < 0) axis += y.rank;
  const auto row_of = [axis](const TensorView& view) {
    int64_t row = 1;
    for (int i = axis; i < view.rank; ++i) row *= view.extents[i];
    return row;
  };
  int64_t start = 0;
  for (int i = 0; i < context.input_count(); ++i) {
    const TensorView& x = context.input(i);
    const int64_t row = row_of(x);
    if (x.count() == 0) continue;
    const int error = launch(grid_for(x.count()), kThreads, stream_of(context), rows_kernel<T>, row,
                             row_of(y), start, elements<T>(x), writable<T>(y), x.count());
    if (error != 0) return launched(context, error);
    start += row;
  }
  return {};
}

template <class Op>
Status View<Op>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (x.count() == 0) return {};
  return launched(context, runtime::copy(y.data, x.data, static_cast<size_t>(x.bytes()),
                                         runtime::Copy::kWithinDevice, stream_of(context)));
}

extern const KernelList movement_kernels;
constinit const KernelList movement_kernels = kernel_list<MovementKernels>();

}  // namespace intarsia::cuda
