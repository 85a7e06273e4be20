// SPDX-License-Identifier: Apache-2.0
//
// A thread takes an element of the output, and finds along each axis the element of the input that
// stands there or is repeated there.
#include "kernels_cuda/movement/pad.h"

#include "core/kernel_list.h"
#include "core/operators/movement/padding.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/movement/host_lists.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {
namespace {

struct PaddedAxis {
  int64_t from = 0, to = 0;  // extents of input and output
  int64_t before = 0;
  int64_t stride = 0;  // in the input
  Divisor by;
};
struct PaddedAxes {
  int rank = 0;
  int32_t mode = PadAttributes::kConstant;
  int64_t skipped = 0;  // elements of the input in front of the first that is read
  PaddedAxis axes[kMaxRank];

  /// Adds the next axis, from the outermost to the innermost. One without padding is a part of the
  /// axis before it, unless that repeats what it has.
  void add(const PaddedAxis& next) {
    const auto plain = [](const PaddedAxis& axis) {
      return axis.before == 0 && axis.from == axis.to;
    };
    PaddedAxis* last = rank > 0 ? &axes[rank - 1] : nullptr;
    if (last != nullptr && plain(next) && (plain(*last) || mode == PadAttributes::kConstant)) {
      last->from *= next.from;
      last->to *= next.to;
      last->before *= next.from;
      last->stride = next.stride;
    } else {
      axes[rank++] = next;
    }
  }
};

/// The index that stands at position `at` outside an axis, in the modes that repeat elements.
INTARSIA_DEVICE int64_t repeated(int64_t at, int64_t extent, int32_t mode) {
  if (mode == PadAttributes::kEdge) return at < 0 ? 0 : extent - 1;
  const int64_t period = mode == PadAttributes::kReflect ? 2 * (extent - 1) : extent;
  if (period == 0) return 0;
  if (at < 0) at += period;
  if (at < 0 || at >= period) {  // further than most paddings are wide
    at %= period;
    if (at < 0) at += period;
  }
  return at < extent ? at : period - at;
}

template <class T>
INTARSIA_GLOBAL pad_kernel(PaddedAxes padded, Global<const T> x, Global<const T> constant,
                           Global<T> y, int64_t count) {
  const T value = constant.present() ? constant[0] : T{};
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t rest = i, from = padded.skipped;
    bool inside = true;
    for (int k = padded.rank - 1; k >= 0; --k) {
      const PaddedAxis& axis = padded.axes[k];
      int64_t at;
      axis.by.divide(rest, rest, at);
      at -= axis.before;
      if (at < 0 || at >= axis.from) {
        inside = inside && padded.mode != PadAttributes::kConstant;
        if (inside) at = repeated(at, axis.from, padded.mode);
      }
      from += at * axis.stride;
    }
    y[i] = inside ? x[from] : value;
  }
}

}  // namespace

template <ElementWidth W>
Status Pad<W>::run(const KernelContext& context) {
  const HostLists lists(context, {1, 3});
  if (Status status = lists.status(); !status) return status;
  if (Status status = check_extents<ops::Pad>(lists.context()); !status) return status;
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  const int32_t mode = context.attributes<PadAttributes>().mode;
  Pads pads;
  if (Status status = pads.read(context, ShapeContext(lists.context())); !status) return status;
  const int64_t count = y.count();
  if (count == 0) return {};
  PaddedAxes padded;
  padded.mode = mode;
  int64_t stride[kMaxRank];
  dense_strides(x, stride);
  for (int axis = 0; axis < y.rank; ++axis) {
    padded.add({pads.extent[axis], y.extents[axis], pads.before[axis], stride[axis], {}});
    padded.skipped += pads.first[axis] * stride[axis];
  }
  for (int axis = 0; axis < padded.rank; ++axis) {
    padded.axes[axis].by = Divisor(padded.axes[axis].to, count);
  }
  return with_element(bytes_of(W), [&]<class T>(T) {
    return launched(
        context,
        launch<pad_kernel<T>>(grid_for(count), kThreads, stream_of(context), padded, elements<T>(x),
                              elements<T>(context.input(2)), writable<T>(y), count));
  });
}

extern const KernelList pad_kernels;
constinit const KernelList pad_kernels = kernel_list<PadKernels>();

}  // namespace intarsia::cuda
