// SPDX-License-Identifier: Apache-2.0
//
// The input is copied, then a thread takes a word of the updates, and looks whether one behind it
// has the same place.
#include "kernels_cuda/indexing/scatter.h"

#include "core/kernel_list.h"
#include "kernels_cuda/indexing/places.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {
namespace {

/// `axes` are those of the updates in the output; `behind` turns an update's number into its
/// coordinate along the axis, where neighbours lie `inner` updates apart.
template <class T, class I>
INTARSIA_GLOBAL scatter_elements_kernel(StridedAxes<1> axes, Divisor inner, Divisor updates,
                                        int64_t apart, int64_t of_axis, int64_t along,
                                        int64_t extent, int axis, Reporter reporter,
                                        Global<const I> at, Global<const T> from, Global<T> y,
                                        int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    const int64_t place = place_of(at[i], extent, axis, reporter);
    if (place < 0) continue;
    int64_t line, column, outer, own, to[1];
    inner.divide(i, line, column);
    updates.divide(line, outer, own);
    bool last = true;
    for (int64_t k = own + 1; k < of_axis && last; ++k) {
      const int64_t other = at[i + (k - own) * apart];
      last = (other < 0 ? other + extent : other) != place;
    }
    axes.locate(i, to);
    if (last) y[to[0] + place * along] = from[i];
  }
}

template <class Word>
INTARSIA_GLOBAL scatter_nd_kernel(Divisor words, int64_t run, int64_t tuples, TupleAxes axes,
                                  Reporter reporter, Global<const int64_t> indices,
                                  Global<const Word> from, Global<Word> y, int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t tuple, word;
    words.divide(i, tuple, word);
    const int64_t slice = slice_of(axes, indices, tuple, 0, reporter);
    bool last = slice >= 0;
    for (int64_t k = tuple + 1; k < tuples && last; ++k) {
      last = slice_of(axes, indices, k, 0, reporter) != slice;
    }
    if (last) y[slice * run + word] = from[i];
  }
}

Status copy_input(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (x.data == y.data || x.count() == 0) return {};
  return launched(context, runtime::copy(y.data, x.data, static_cast<size_t>(x.bytes()),
                                         runtime::Copy::kWithinDevice, stream_of(context)));
}

}  // namespace

template <ElementWidth W, class I>
Status ScatterElements<W, I>::run(const KernelContext& context) {
  const TensorView& y = context.output(0);
  const TensorView& updates = context.input(2);
  if (Status status = copy_input(context); !status) return status;
  int axis = context.attributes<ScatterElementsAttributes>().axis;
  if (axis < 0) axis += y.rank;
  const int64_t count = updates.count();
  if (count == 0) return {};
  int64_t strides[kMaxRank];
  dense_strides(y, strides);
  StridedAxes<1> axes;
  // The index stands in for the coordinate along the axis.
  for (int i = 0; i < y.rank; ++i) axes.add(updates.extents[i], {i == axis ? 0 : strides[i]});
  const int64_t apart = span_count(updates, axis + 1, updates.rank);
  const int64_t of_axis = updates.extents[axis];
  return with_element(bytes_of(W), [&]<class T>(T) {
    return launched(
        context, launch<scatter_elements_kernel<T, I>>(
                     grid_for(count), kThreads, stream_of(context), axes, Divisor(apart, count),
                     Divisor(of_axis, count / apart), apart, of_axis, strides[axis],
                     int64_t{y.extents[axis]}, axis, Reporter(context),
                     elements<I>(context.input(1)), elements<T>(updates), writable<T>(y), count));
  });
}

template <ElementWidth W>
Status ScatterND<W>::run(const KernelContext& context) {
  const TensorView& y = context.output(0);
  const TensorView& indices = context.input(1);
  const TensorView& updates = context.input(2);
  if (Status status = copy_input(context); !status) return status;
  if (updates.count() == 0) return {};
  TupleAxes axes;
  axes.count = indices.extents[indices.rank - 1];
  for (int i = 0; i < axes.count; ++i) axes.extents[i] = y.extents[i];
  constexpr int64_t kBytes = bytes_of(W);
  const int64_t bytes = span_count(y, axes.count, y.rank) * kBytes;
  const int64_t width = word_of(kBytes, {bytes, address_of(updates), address_of(y)});
  const int64_t run = bytes / width, count = updates.bytes() / width;
  return with_word(width, [&]<class Word>(Word) {
    return launched(context,
                    launch<scatter_nd_kernel<Word>>(
                        grid_for(count), kThreads, stream_of(context), Divisor(run, count), run,
                        count / run, axes, Reporter(context), elements<int64_t>(indices),
                        words<const Word>(updates), words<Word>(y), count));
  });
}

extern const KernelList scatter_kernels;
constinit const KernelList scatter_kernels = kernel_list<ScatterKernels>();

}  // namespace intarsia::cuda
