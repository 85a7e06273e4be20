// SPDX-License-Identifier: Apache-2.0
//
// Two launches. The first computes the taps of each resized axis into the workspace, in double, as
// the CPU does: where a coordinate lies between two elements both choose the same one. In the
// second a thread takes an element of the output, and adds what its taps name.
#include "kernels_cuda/nn/resize.h"

#include <utility>

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/movement/host_lists.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {
namespace {

struct TapTable {
  ResizeAttributes attributes;
  ResizeAxis axes[kMostResized];
  int64_t firsts[kMostResized + 1] = {};  // of each axis, in a count of output indices
  int64_t starts[kMostResized] = {};      // of each axis, among the taps
  int64_t counts[kMostResized] = {};      // taps of an output index
};

/// The taps of one output index.
struct TapsAt {
  Global<DeviceTap> table;
  int64_t first;
  INTARSIA_DEVICE DeviceTap& operator[](int64_t t) const { return table[first + t]; }
};

INTARSIA_GLOBAL taps_kernel(TapTable table, Global<DeviceTap> taps) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < table.firsts[kMostResized]; i += element_step()) {
    int axis = 0;
    while (i >= table.firsts[axis + 1]) ++axis;
    const int64_t j = i - table.firsts[axis], count = table.counts[axis];
    const TapsAt at{taps, table.starts[axis] + j * count};
    if (table.axes[axis].listed) {
      ops::fill_resize_taps<float>(table.attributes, table.axes[axis], j, at, count);
    } else {
      at[0] = DeviceTap{0, 1.0f};
    }
  }
}

/// The output's axes: a group of those that stay, a resized one, a group, ..., a group. Axes that
/// there are not have one element.
struct ResizedAxes {
  struct Axis {
    int64_t extent = 1;  // of the output
    int64_t stride = 0;  // in the input
    Divisor by;
  };
  Axis plain[kMostResized + 1];
  Axis resized[kMostResized];
  int64_t starts[kMostResized] = {};
  int64_t counts[kMostResized] = {};
};

/// Where element `i` of the output begins in the input, and where its taps are.
INTARSIA_DEVICE int64_t locate(const ResizedAxes& axes, int64_t i, int64_t (&taps)[kMostResized]) {
  int64_t from = 0, at = 0;
  for (int k = kMostResized; k > 0; --k) {
    if (axes.plain[k].extent > 1) {
      axes.plain[k].by.divide(i, i, at);
      from += at * axes.plain[k].stride;
    }
    at = 0;
    if (axes.resized[k - 1].extent > 1) axes.resized[k - 1].by.divide(i, i, at);
    taps[k - 1] = axes.starts[k - 1] + at * axes.counts[k - 1];
  }
  return from + i * axes.plain[0].stride;
}

template <class T>
INTARSIA_GLOBAL nearest_kernel(ResizedAxes axes, Global<const DeviceTap> taps, Global<const T> x,
                               Global<T> y, int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t at[kMostResized];
    int64_t from = locate(axes, i, at);
    for (int k = 0; k < kMostResized; ++k) from += taps[at[k]].index * axes.resized[k].stride;
    y[i] = x[from];
  }
}

template <class T>
INTARSIA_GLOBAL resize_kernel(ResizedAxes axes, float outside, Global<const DeviceTap> taps,
                              Global<const T> x, Global<T> y, int64_t count) {
  static_assert(kMostResized == 3);
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t at[kMostResized];
    const int64_t from = locate(axes, i, at);
    float sum = 0;
    bool inside = true;
    for (int64_t a = 0; a < axes.counts[0]; ++a) {
      const DeviceTap first = taps[at[0] + a];
      for (int64_t b = 0; b < axes.counts[1]; ++b) {
        const DeviceTap second = taps[at[1] + b];
        const int64_t row =
            from + first.index * axes.resized[0].stride + second.index * axes.resized[1].stride;
        float of_row = 0;
        for (int64_t c = 0; c < axes.counts[2]; ++c) {
          const DeviceTap third = taps[at[2] + c];
          inside = first.index >= 0 && second.index >= 0 && third.index >= 0;
          if (!inside) break;
          of_row += third.weight * number_of(x[row + third.index * axes.resized[2].stride]);
        }
        sum += first.weight * second.weight * of_row;
      }
    }
    y[i] = element_of<T>(inside ? sum : outside);
  }
}

/// What both launches are given.
struct Plan {
  TapTable table;
  ResizedAxes axes;
  int64_t taps = 0;
  bool changes = false;
};

/// Sorts axes into those that stay and those that are resized, from the innermost on, so that those
/// that there are come last.
Status sort_axes(const KernelContext& context, const ResizeAxis (&axes)[kMaxRank], Plan& plan) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  const bool crop = plan.table.attributes.coordinates == ResizeAttributes::kCropAndResize;
  int64_t strides[kMaxRank];
  dense_strides(x, strides);
  int place = kMostResized;
  for (int axis = x.rank - 1; axis >= 0; --axis) {
    if (x.extents[axis] == 0) {
      return context.fail(Code::kWrongExtent, "extent to enlarge", 1, 0, 0, axis);
    }
    if (!axes[axis].listed || axes[axis].identity(crop)) {
      ResizedAxes::Axis& group = plan.axes.plain[place];
      if (group.extent == 1) group.stride = strides[axis];
      group.extent *= y.extents[axis];
      continue;
    }
    if (place == 0) {
      return context.fail(Code::kUnsupported, "axes that change", kMostResized, kMostResized + 1);
    }
    plan.table.axes[--place] = axes[axis];
    plan.axes.resized[place].extent = y.extents[axis];
    plan.axes.resized[place].stride = strides[axis];
    plan.changes = true;
  }
  std::swap(plan.axes.plain[0], plan.axes.plain[place]);
  return {};
}

/// Reads the lists, and gives each axis its taps.
Status make_plan(const KernelContext& context, Plan& plan) {
  using Rule = ops::Resize;
  const HostLists lists(context, {Rule::kRoi, Rule::kScales, Rule::kSizes});
  if (Status status = lists.status(); !status) return status;
  if (Status status = check_extents<Rule>(lists.context()); !status) return status;
  const int64_t count = context.output(0).count();
  if (count == 0) return {};
  plan.table.attributes = context.attributes<ResizeAttributes>();
  ResizeAxis axes[kMaxRank];
  ops::read_resize_axes(lists.context(), axes);
  if (Status status = sort_axes(context, axes, plan); !status) return status;
  const int64_t most = context.workspace_bytes() / int64_t{sizeof(DeviceTap)};
  TapTable& table = plan.table;
  for (int k = 0; k < kMostResized; ++k) {
    const bool listed = table.axes[k].listed;
    ResizedAxes::Axis& axis = plan.axes.resized[k];
    table.counts[k] = listed ? ops::resize_taps(table.attributes, table.axes[k]) : 1;
    if (table.counts[k] > (most - plan.taps) / axis.extent) {
      return context.fail(Code::kUnsupported, "taps for this scale", most, table.counts[k]);
    }
    table.starts[k] = plan.taps;
    table.firsts[k + 1] = table.firsts[k] + axis.extent;
    plan.taps += table.counts[k] * axis.extent;
    plan.axes.starts[k] = table.starts[k];
    plan.axes.counts[k] = table.counts[k];
    axis.by = Divisor(axis.extent, count);
    plan.axes.plain[k + 1].by = Divisor(plan.axes.plain[k + 1].extent, count);
  }
  return {};
}

/// Makes the plan and computes the taps; then `start(axes, taps)` launches what reads them. An
/// output that is the input is copied.
template <class Start>
Status resize(const KernelContext& context, const Start& start) {
  Plan plan;
  if (Status status = make_plan(context, plan); !status) return status;
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  void* stream = stream_of(context);
  if (!plan.changes) {
    return launched(context, runtime::copy(y.data, x.data, static_cast<size_t>(x.bytes()),
                                           runtime::Copy::kWithinDevice, stream));
  }
  auto* memory = reinterpret_cast<DeviceTap*>(context.workspace().data());
  const int error = launch<taps_kernel>(grid_for(plan.table.firsts[kMostResized]), kThreads, stream,
                                        plan.table, Global<DeviceTap>(memory, plan.taps));
  if (error != 0) return launched(context, error);
  return launched(context, start(plan.axes, Global<const DeviceTap>(memory, plan.taps)));
}

}  // namespace

namespace {

/// The axes in words of `size` elements: what lies behind the last axis that changes moves as runs.
ResizedAxes in_words(ResizedAxes axes, int64_t size, int64_t count) {
  for (int k = 0; k < kMostResized; ++k) {
    axes.plain[k].stride /= size;
    axes.resized[k].stride /= size;
  }
  ResizedAxes::Axis& run = axes.plain[kMostResized];
  run.extent /= size;
  run.by = Divisor(run.extent, count / size);
  return axes;
}

}  // namespace

template <ElementWidth W>
Status ResizeNearest<W>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  constexpr int64_t kBytes = bytes_of(W);
  return resize(context, [&](const ResizedAxes& axes, const Global<const DeviceTap>& taps) {
    const int64_t run = axes.plain[kMostResized].extent * kBytes;
    const int64_t word = word_of(kBytes, {run, address_of(x), address_of(y)});
    const ResizedAxes moved = in_words(axes, word / kBytes, y.count());
    const int64_t count = y.bytes() / word;
    return with_word(word, [&]<class Word>(Word) {
      return launch<nearest_kernel<Word>>(grid_for(count), kThreads, stream_of(context), moved,
                                          taps, words<const Word>(x), words<Word>(y), count);
    });
  });
}

template <class T>
Status Resize<T>::run(const KernelContext& context) {
  const TensorView& y = context.output(0);
  const float outside = context.attributes<ResizeAttributes>().extrapolation_value;
  return resize(context, [&](const ResizedAxes& axes, const Global<const DeviceTap>& taps) {
    return launch<resize_kernel<T>>(grid_for(y.count()), kThreads, stream_of(context), axes,
                                    outside, taps, elements<T>(context.input(0)), writable<T>(y),
                                    y.count());
  });
}

extern const KernelList resize_kernels;
constinit const KernelList resize_kernels = kernel_list<ResizeKernels>();

}  // namespace intarsia::cuda
