// SPDX-License-Identifier: Apache-2.0
//
// Where the innermost axis is reduced, a warp or a block takes a result, by packs if it can; else a
// block takes 32 results side by side, and its warps share what is reduced. Partial results meet by
// shuffles and in shared memory, in an order that follows from the extents.
#include "kernels_cuda/reduction/reduce.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/rows.h"
#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/reduction/reducers.h"

namespace intarsia::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kLanes = 32;
constexpr int kWarps = kBlock / kLanes;

/// Where the elements of each result are.
struct Reduction {
  StridedAxes<1> kept, reduced;  ///< `reduced`: of packs, if a kernel takes them.
  int64_t results = 1, count = 1;
  bool inner_reduced = true;  ///< The innermost axis; else the elements of a result lie apart.
  int64_t inner = 1;          ///< Results side by side, where they lie so.

  Reduction(const TensorView& x, const bool (&is_reduced)[kMaxRank]) {
    for (int axis = 0; axis < x.rank; ++axis) {
      if (x.extents[axis] != 1) inner_reduced = is_reduced[axis];
      (is_reduced[axis] ? count : results) *= x.extents[axis];
    }
    for (int axis = 0; axis < x.rank; ++axis) {
      int64_t stride = 1;
      for (int i = axis + 1; i < x.rank; ++i) stride *= x.extents[i];
      (is_reduced[axis] ? reduced : kept).add(x.extents[axis], {stride});
    }
    if (!inner_reduced) inner = kept.extents[kept.rank - 1];
  }
  /// Neighbours that are reduced together.
  int64_t run() const {
    return inner_reduced && reduced.rank > 0 ? reduced.extents[reduced.rank - 1] : 1;
  }
  /// REQUIRES: run() is a multiple of n.
  void take_packs(int n) {
    StridedAxes<1> packs;
    const int last = reduced.rank - 1;
    for (int axis = 0; axis <= last; ++axis) {
      const int scale = axis == last ? n : 1;
      packs.add(reduced.extents[axis] / scale, {reduced.strides[0][axis] * scale});
    }
    reduced = packs;
  }
};

/// Calls take(i, offset of what is reduced i-th) for i = first, first + step, ... below `count`.
template <class Take>
INTARSIA_DEVICE void each_reduced(const StridedAxes<1>& axes, int64_t first, int64_t step,
                                  int64_t count, const Take& take) {
  if (axes.rank <= 1) {  // without a division
    const int64_t stride = axes.rank == 0 ? 0 : axes.strides[0][0];
    for (int64_t i = first; i < count; i += step) take(i, i * stride);
    return;
  }
  int64_t at[1];
  INTARSIA_ROLLED
  for (int64_t i = first; i < count; i += step) {
    axes.locate(i, at);
    take(i, at[0]);
  }
}
/// The offset of a result's first element.
INTARSIA_DEVICE int64_t offset_of(const StridedAxes<1>& kept, int64_t result) {
  int64_t at[1];
  kept.locate(result, at);
  return at[0];
}

/// CUDA shuffles numbers only.
template <class A>
INTARSIA_DEVICE A shuffled(A value, unsigned mask) {
  if constexpr (std::is_arithmetic_v<A>) {
    return shuffle_xor(value, mask);
  } else {
    static_assert(sizeof(A) == sizeof(unsigned long long));
    unsigned long long bits;
    std::memcpy(&bits, &value, sizeof(A));
    bits = shuffle_xor(bits, mask);
    std::memcpy(&value, &bits, sizeof(A));
    return value;
  }
}

/// `value` of all lanes, joined.
template <class R, class A>
INTARSIA_DEVICE A over_warp(const R& reducer, A value) {
  for (unsigned mask = kWarpSize / 2; mask > 0; mask /= 2) {
    value = reducer.merge(value, shuffled(value, mask));
  }
  return value;
}

/// `threads` share a result: those of a warp, or of the block.
template <class R, int N>
INTARSIA_GLOBAL reduce_rows_kernel(R reducer, Reduction r, int threads,
                                   Global<const typename R::Element> x,
                                   Global<typename R::Result> y) {
  using A = typename R::Accumulator;
  INTARSIA_SHARED(A, parts, kWarps);
  const int thread = static_cast<int>(thread_x());
  const int64_t result =
      threads == kBlock ? block_x() : int64_t{block_x()} * kWarps + thread / kLanes;
  if (result >= r.results) return;  // all threads of a warp, and of a block that takes one
  const int64_t first = offset_of(r.kept, result), packs = r.count / N;
  A sum = reducer.identity();
  each_reduced(r.reduced, thread % threads, threads, packs, [&](int64_t i, int64_t offset) {
    const auto pack = x.template pack<N>(first + offset);
    repeat<N>([&](auto k) {
      sum = reducer.merge(sum, reducer.start(number_of(pack.values[k()]), i * N + k()));
    });
  });
  sum = over_warp(reducer, sum);
  if (threads == kBlock) {
    if (thread % kLanes == 0) parts[thread / kLanes] = sum;
    sync_threads();
    for (int warp = 1; thread == 0 && warp < kWarps; ++warp) {
      sum = reducer.merge(sum, static_cast<A>(parts[warp]));
    }
  }
  if (thread % threads == 0) {
    y[result] = element_of<typename R::Result>(reducer.finish(sum, r.count));
  }
}

template <class R>
INTARSIA_GLOBAL reduce_columns_kernel(R reducer, Reduction r, Global<const typename R::Element> x,
                                      Global<typename R::Result> y) {
  using A = typename R::Accumulator;
  INTARSIA_SHARED(A, parts, kWarps * kLanes);
  const int lane = static_cast<int>(thread_x()) % kLanes;
  const int warp = static_cast<int>(thread_x()) / kLanes;
  const int64_t groups = (r.inner + kLanes - 1) / kLanes;
  const int64_t column = block_x() % groups * kLanes + lane;
  const int64_t row = block_x() / groups * r.inner;  // the result of column 0
  const int64_t first = offset_of(r.kept, row) + column;
  A sum = reducer.identity();
  const int64_t count = column < r.inner ? r.count : 0;
  each_reduced(r.reduced, warp, kWarps, count, [&](int64_t i, int64_t offset) {
    sum = reducer.merge(sum, reducer.start(number_of(x[first + offset]), i));
  });
  parts[warp * kLanes + lane] = sum;
  sync_threads();
  if (warp != 0 || column >= r.inner) return;
  for (int w = 1; w < kWarps; ++w) {
    sum = reducer.merge(sum, static_cast<A>(parts[w * kLanes + lane]));
  }
  y[row + column] = element_of<typename R::Result>(reducer.finish(sum, r.count));
}

template <class R>
Status reduce(const KernelContext& context, const R& reducer, const bool (&is_reduced)[kMaxRank]) {
  using E = typename R::Element;
  const TensorView &x = context.input(0), &y = context.output(0);
  if (y.count() == 0) return {};
  Reduction r(x, is_reduced);
  const auto from = elements<E>(x);
  const auto to = writable<typename R::Result>(y);
  if (!r.inner_reduced) {
    const int64_t blocks = r.results / r.inner * blocks_of(r.inner, kLanes);
    return launched(context,
                    launch<reduce_columns_kernel<R>>(static_cast<unsigned>(blocks), kBlock,
                                                     stream_of(context), reducer, r, from, to));
  }
  constexpr int N = kPack<E>;
  const bool packed = r.run() % N == 0 && takes_packs<E, N>(x);
  if (packed) r.take_packs(N);
  // Several elements for each lane of a warp are worth a block.
  const int threads = r.count <= 8 * kLanes * (packed ? N : 1) ? kLanes : kBlock;
  const auto blocks = static_cast<unsigned>(blocks_of(r.results, kBlock / threads));
  void* stream = stream_of(context);
  return launched(context, packed ? launch<reduce_rows_kernel<R, N>>(blocks, kBlock, stream,
                                                                     reducer, r, threads, from, to)
                                  : launch<reduce_rows_kernel<R, 1>>(
                                        blocks, kBlock, stream, reducer, r, threads, from, to));
}

}  // namespace

template <class Op, class T>
Status Reduce<Op, T>::run(const KernelContext& context) {
  const bool keeps = context.attributes<ReduceAttributes>().keepdims != 0;
  const ReducedAxes axes(context.input(0), context.output(0), keeps);
  return reduce(context, Reducer<Op, T>(), axes.reduced);
}

template <class Op, class T>
Status ArgReduce<Op, T>::run(const KernelContext& context) {
  const auto& attributes = context.attributes<ArgReduceAttributes>();
  const int axis = attributes.axis < 0 ? attributes.axis + context.input(0).rank : attributes.axis;
  bool is_reduced[kMaxRank] = {};
  is_reduced[axis] = true;
  return reduce(context, Extreme<Op, T>{attributes.select_last_index != 0}, is_reduced);
}

extern const KernelList reduce_kernels;
constinit const KernelList reduce_kernels = kernel_list<ReduceKernels>();

}  // namespace intarsia::cuda
