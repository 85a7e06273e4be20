// SPDX-License-Identifier: Apache-2.0
//
// What is a strided copy, each as the axes of its output; and views.
#include "kernels_cuda/movement/movement.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/movement/host_lists.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {

template <ElementWidth W>
Status Transpose<W>::run(const KernelContext& context) {
  const auto& attributes = context.attributes<TransposeAttributes>();
  const TensorView& y = context.output(0);
  int64_t strides[kMaxRank];
  dense_strides(context.input(0), strides);
  CopyAxes axes;
  for (int axis = 0; axis < y.rank; ++axis) {
    axes.add(y.extents[axis], {strides[ops::Transpose::source(attributes, y.rank, axis)]});
  }
  return strided_copy(context, axes);
}

template <ElementWidth W>
Status Slice<W>::run(const KernelContext& context) {
  const HostLists lists(context, {1, 2, 3, 4});
  if (Status status = lists.status(); !status) return status;
  if (Status status = check_extents<ops::Slice>(lists.context()); !status) return status;
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  int64_t strides[kMaxRank];
  dense_strides(x, strides);
  const ShapeContext values(lists.context());
  int64_t start = 0;
  for (int64_t i = 0; i < context.input(1).count(); ++i) {
    int64_t axis = context.input(3).present() ? values.value(3, i).value() : i;
    if (axis < 0) axis += x.rank;
    const int64_t step = context.input(4).present() ? values.value(4, i).value() : 1;
    const auto range = ops::Slice::range<CheckedInt>(values.value(1, i), values.value(2, i), step,
                                                     x.extents[axis]);
    start += range.first.value() * strides[axis];
    // A step that leaves one element only is never taken, and may be huge.
    if (range.extent > 1) strides[axis] *= range.step;
  }
  CopyAxes axes;
  for (int axis = 0; axis < y.rank; ++axis) axes.add(y.extents[axis], {strides[axis]});
  return strided_copy(context, axes, start);
}

template <ElementWidth W>
Status Expand<W>::run(const KernelContext& context) {
  const TensorView& y = context.output(0);
  CopyAxes axes;
  for (int axis = 0; axis < y.rank; ++axis) {
    axes.add(y.extents[axis], {broadcast_stride(context.input(0), y.rank, axis)});
  }
  return strided_copy(context, axes);
}

template <ElementWidth W>
Status Tile<W>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  int64_t strides[kMaxRank];
  dense_strides(x, strides);
  CopyAxes axes;
  for (int axis = 0; axis < y.rank; ++axis) {
    axes.add(y.extents[axis] / x.extents[axis], {0});
    axes.add(x.extents[axis], {strides[axis]});
  }
  return strided_copy(context, axes);
}

namespace {

Status copy_blocks(const KernelContext& context, bool widen) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const BlockAxes all(context.attributes<BlockAttributes>(), widen ? y : x, widen ? x : y, widen);
  CopyAxes axes;
  for (const BlockAxis& axis : all.axes) axes.add(axis.extent, {widen ? axis.deep : axis.wide});
  return strided_copy(context, axes);
}

}  // namespace

template <ElementWidth W>
Status DepthToSpace<W>::run(const KernelContext& context) {
  return copy_blocks(context, true);
}

template <ElementWidth W>
Status SpaceToDepth<W>::run(const KernelContext& context) {
  return copy_blocks(context, false);
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
