// SPDX-License-Identifier: Apache-2.0
//
// A thread takes a word of the output: as many neighbours as lie beside one another in the input.
#include "kernels_cuda/indexing/gather.h"

#include "core/kernel_list.h"
#include "kernels_cuda/indexing/places.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {
namespace {

/// `runs` of the output by their words, and by the indices that each is read at.
template <class Word, class I>
INTARSIA_GLOBAL gather_kernel(Divisor words, Divisor indices, int64_t run, int64_t per_outer,
                              int64_t extent, int axis, Reporter reporter, Global<const Word> x,
                              Global<const I> at, Global<Word> y, int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t item, word, outer, index;
    words.divide(i, item, word);
    indices.divide(item, outer, index);
    const int64_t place = place_of(at[index], extent, axis, reporter);
    if (place >= 0) y[i] = x[outer * per_outer + place * run + word];
  }
}

template <class T, class I>
INTARSIA_GLOBAL gather_elements_kernel(StridedAxes<1> axes, int64_t along, int64_t extent, int axis,
                                       Reporter reporter, Global<const T> x, Global<const I> at,
                                       Global<T> y, int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t from[1];
    axes.locate(i, from);
    const int64_t place = place_of(at[i], extent, axis, reporter);
    if (place >= 0) y[i] = x[from[0] + place * along];
  }
}

template <class Word>
INTARSIA_GLOBAL gather_nd_kernel(Divisor words, Divisor batches, int64_t run, TupleAxes axes,
                                 Reporter reporter, Global<const Word> x,
                                 Global<const int64_t> indices, Global<Word> y, int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t tuple, word, batch, rest;
    words.divide(i, tuple, word);
    batches.divide(tuple, batch, rest);
    const int64_t slice = slice_of(axes, indices, tuple, batch, reporter);
    if (slice >= 0) y[i] = x[slice * run + word];
  }
}

}  // namespace

template <ElementWidth W, class I>
Status Gather<W, I>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  int axis = context.attributes<AxisAttributes>().axis;
  if (axis < 0) axis += x.rank;
  if (y.count() == 0) return {};
  const int64_t extent = x.extents[axis], indices = context.input(1).count();
  constexpr int64_t kBytes = bytes_of(W);
  const int64_t bytes = span_count(x, axis + 1, x.rank) * kBytes;
  const int64_t width = word_of(kBytes, {bytes, address_of(x), address_of(y)});
  const int64_t run = bytes / width, count = y.bytes() / width;
  return with_word(width, [&]<class Word>(Word) {
    return launched(context, launch<gather_kernel<Word, I>>(
                                 grid_for(count), kThreads, stream_of(context), Divisor(run, count),
                                 Divisor(indices, count / run), run, run * extent, extent, axis,
                                 Reporter(context), words<const Word>(x),
                                 elements<I>(context.input(1)), words<Word>(y), count));
  });
}

template <ElementWidth W, class I>
Status GatherElements<W, I>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  int axis = context.attributes<AxisAttributes>().axis;
  if (axis < 0) axis += x.rank;
  if (y.count() == 0) return {};
  int64_t strides[kMaxRank];
  dense_strides(x, strides);
  StridedAxes<1> axes;
  // The index stands in for the coordinate along the axis.
  for (int i = 0; i < y.rank; ++i) axes.add(y.extents[i], {i == axis ? 0 : strides[i]});
  return with_element(bytes_of(W), [&]<class T>(T) {
    return launched(context,
                    launch<gather_elements_kernel<T, I>>(
                        grid_for(y.count()), kThreads, stream_of(context), axes, strides[axis],
                        int64_t{x.extents[axis]}, axis, Reporter(context), elements<T>(x),
                        elements<I>(context.input(1)), writable<T>(y), y.count()));
  });
}

template <ElementWidth W>
Status GatherND<W>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  const TensorView& indices = context.input(1);
  if (y.count() == 0) return {};
  TupleAxes axes;
  axes.first = context.attributes<GatherNDAttributes>().batch_dims;
  axes.count = indices.extents[indices.rank - 1];
  for (int i = 0; i < axes.count; ++i) axes.extents[i] = x.extents[axes.first + i];
  const int64_t tuples = span_count(indices, 0, indices.rank - 1);
  const int64_t per_batch = tuples / span_count(x, 0, axes.first);
  constexpr int64_t kBytes = bytes_of(W);
  const int64_t bytes = span_count(x, axes.first + axes.count, x.rank) * kBytes;
  const int64_t width = word_of(kBytes, {bytes, address_of(x), address_of(y)});
  const int64_t run = bytes / width, count = y.bytes() / width;
  return with_word(width, [&]<class Word>(Word) {
    return launched(
        context, launch<gather_nd_kernel<Word>>(grid_for(count), kThreads, stream_of(context),
                                                Divisor(run, count), Divisor(per_batch, tuples),
                                                run, axes, Reporter(context), words<const Word>(x),
                                                elements<int64_t>(indices), words<Word>(y), count));
  });
}

extern const KernelList gather_kernels;
constinit const KernelList gather_kernels = kernel_list<GatherKernels>();

}  // namespace intarsia::cuda
