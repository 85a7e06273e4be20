// SPDX-License-Identifier: Apache-2.0
//
// GlobalAveragePool and GlobalMaxPool. Channels last: a block takes 16 bytes of channels, its
// threads share the positions and meet by shuffles, then in shared memory; or, where channels do
// not come in 16 bytes, it takes 32 of them, which its lanes share. Channels first: a warp takes a
// channel, its lanes share the positions. All sum in a fixed order.
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cuda/common/rows.h"
#include "kernels_cuda/nn/pool.h"

namespace intarsia::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kWarps = 8;

struct Average : Total {
  static constexpr bool divides = true;
  INTARSIA_DEVICE static float start() { return 0; }
};
struct Maximum : Larger {
  static constexpr bool divides = false;
  INTARSIA_DEVICE static float start() { return -INFINITY; }
};

template <class Op>
INTARSIA_DEVICE float finished(float sum, int64_t positions) {
  return Op::divides ? sum / static_cast<float>(positions) : sum;
}

/// x is [image][position][channel], read by packs.
template <class Op, class T>
INTARSIA_GLOBAL channels_packed_kernel(Global<const T> x, Global<T> y, int64_t positions,
                                       int64_t channels) {
  constexpr int N = kPack<T>;
  INTARSIA_SHARED(float, parts, (kWarps * N));
  const int thread = static_cast<int>(thread_x());
  const int64_t pieces = channels / N;
  const int64_t image = block_x() / pieces;
  const int64_t channel = block_x() % pieces * N;
  float sums[N];
  INTARSIA_UNROLLED
  for (int i = 0; i < N; ++i) sums[i] = Op::start();
  INTARSIA_UNROLLED_BY(4)
  for (int64_t p = thread; p < positions; p += kWarps * kLanes) {
    const auto pack = x.template pack<N>((image * positions + p) * channels + channel);
    INTARSIA_UNROLLED
    for (int i = 0; i < N; ++i) sums[i] = Op::join(sums[i], number_of(pack.values[i]));
  }
  INTARSIA_UNROLLED
  for (int i = 0; i < N; ++i) {
    sums[i] = over_row<Op, kLanes>(sums[i]);
    if (thread % kLanes == 0) parts[thread / kLanes * N + i] = sums[i];
  }
  sync_threads();
  if (thread >= N) return;
  float sum = parts[thread];
  for (int warp = 1; warp < kWarps; ++warp) sum = Op::join(sum, parts[warp * N + thread]);
  y[image * channels + channel + thread] = element_of<T>(finished<Op>(sum, positions));
}

/// x is [image][position][channel].
template <class Op, class T>
INTARSIA_GLOBAL channels_last_kernel(Global<const T> x, Global<T> y, int64_t positions,
                                     int64_t channels) {
  INTARSIA_SHARED(float, parts, kWarps* kLanes);
  const int lane = static_cast<int>(thread_x()) % kLanes;
  const int warp = static_cast<int>(thread_x()) / kLanes;
  const int64_t groups = (channels + kLanes - 1) / kLanes;
  const int64_t image = block_x() / groups;
  const int64_t channel = block_x() % groups * kLanes + lane;
  float sum = Op::start();
  for (int64_t p = warp; channel < channels && p < positions; p += kWarps) {
    sum = Op::join(sum, number_of(x[(image * positions + p) * channels + channel]));
  }
  parts[warp * kLanes + lane] = sum;
  sync_threads();
  if (warp != 0 || channel >= channels) return;
  for (int w = 1; w < kWarps; ++w) sum = Op::join(sum, parts[w * kLanes + lane]);
  y[image * channels + channel] = element_of<T>(finished<Op>(sum, positions));
}

/// x is [plane][position]; every warp of a block takes a plane.
template <class Op, class T>
INTARSIA_GLOBAL channels_first_kernel(Global<const T> x, Global<T> y, int64_t positions,
                                      int64_t planes) {
  const int lane = static_cast<int>(thread_x()) % kLanes;
  const int64_t plane = static_cast<int64_t>(block_x()) * kWarps + thread_x() / kLanes;
  float sum = Op::start();
  for (int64_t p = lane; plane < planes && p < positions; p += kLanes) {
    sum = Op::join(sum, number_of(x[plane * positions + p]));
  }
  sum = over_row<Op, kLanes>(sum);
  if (lane == 0 && plane < planes) y[plane] = element_of<T>(finished<Op>(sum, positions));
}

template <class Op, class T>
Status run_global(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  const int64_t planes = y.count();
  if (planes == 0) return {};
  const int64_t positions = x.count() / planes;
  const Global<const T> from = elements<T>(x);
  const Global<T> to = writable<T>(y);
  if (context.attributes<GlobalPoolAttributes>().channels_last != 0) {
    const int64_t channels = x.extents[x.rank - 1];
    if (channels % kPack<T> == 0 && takes_packs<T, kPack<T>>(x)) {
      return launched(
          context, launch<channels_packed_kernel<Op, T>>(
                       static_cast<unsigned>(x.extents[0] * (channels / kPack<T>)), kLanes * kWarps,
                       stream_of(context), from, to, positions, channels));
    }
    const int64_t blocks = x.extents[0] * blocks_of(channels, kLanes);
    return launched(context, launch<channels_last_kernel<Op, T>>(
                                 static_cast<unsigned>(blocks), kLanes * kWarps, stream_of(context),
                                 from, to, positions, channels));
  }
  return launched(context, launch<channels_first_kernel<Op, T>>(
                               static_cast<unsigned>(blocks_of(planes, kWarps)), kLanes * kWarps,
                               stream_of(context), from, to, positions, planes));
}

}  // namespace

template <class Op, class T>
Status GlobalPool<Op, T>::run(const KernelContext& context) {
  using Sum = std::conditional_t<std::is_same_v<Op, GlobalAverageOp>, Average, Maximum>;
  return run_global<Sum, T>(context);
}

extern const KernelList global_pool_kernels;
constinit const KernelList global_pool_kernels = kernel_list<GlobalPoolKernels>();

}  // namespace intarsia::cuda
