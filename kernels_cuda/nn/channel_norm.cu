// SPDX-License-Identifier: Apache-2.0
//
// BatchNormalization: threads take packs in turns. The others: a block takes a group of channels,
// the elements of which are neighbours (rows.h), and finds the channel of each pack.
#include "kernels_cuda/nn/channel_norm.h"

#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cuda/common/rows.h"

namespace intarsia::cuda {
namespace {

/// `plane` neighbours are of one channel; with a plane of 1 the channels lie side by side.
template <class T, class P>
struct Batch {
  Global<const T> x;
  Global<const P> scale, shift, mean, variance;
  Global<T> y;
  int64_t count, channels, plane;
  float epsilon;

  INTARSIA_DEVICE float normalized(float value, int64_t channel) const {
    const float factor = number_of(scale[channel]) / sqrtf(number_of(variance[channel]) + epsilon);
    return (value - number_of(mean[channel])) * factor + number_of(shift[channel]);
  }
};

/// REQUIRES: a pack of N is of one channel, or of N neighbours that begin at one.
template <int N, class T, class P>
INTARSIA_GLOBAL batch_norm_kernel(Batch<T, P> batch) {
  INTARSIA_ROLLED
  for (int64_t i = first_element() * N; i < batch.count; i += element_step() * N) {
    const Pack<T, N> from = batch.x.template pack<N>(i);
    const int64_t channel = i / batch.plane % batch.channels;
    const int step = batch.plane == 1 ? 1 : 0;
    Pack<T, N> to{};
    repeat<N>([&](auto k) {
      to.values[k()] =
          element_of<T>(batch.normalized(number_of(from.values[k()]), channel + k() * step));
    });
    batch.y.template store<N>(i, to);
  }
}

constexpr int kGroupThreads = 512;

/// A group is `channels` channels of `plane` neighbours; an image has `groups`.
template <int N, class T>
INTARSIA_GLOBAL group_norm_kernel(Global<const T> x, Global<const T> scale, Global<const T> shift,
                                  Global<T> y, int64_t groups, int64_t channels, int64_t plane,
                                  float epsilon) {
  const int64_t group = block_x(), length = channels * plane;
  const auto count = static_cast<float>(length);
  const RowPart<T, N, kGroupThreads> part(x, group * length, length, static_cast<int>(thread_x()));
  float mean = 0;
  part.each([&](const Pack<T, N>& pack, int64_t) {
    repeat<N>([&](auto k) { mean += number_of(pack.values[k()]); });
  });
  mean = over_row<Total, kGroupThreads, 0>(mean) / count;
  float squares = 0;
  part.each([&](const Pack<T, N>& pack, int64_t) {
    repeat<N>([&](auto k) {
      const float deviation = number_of(pack.values[k()]) - mean;
      squares += deviation * deviation;
    });
  });
  squares = over_row<Total, kGroupThreads, 1>(squares);
  const float inverse = 1 / sqrtf(squares / count + epsilon);
  part.each([&](const Pack<T, N>& pack, int64_t at) {
    const int64_t channel = group % groups * channels + at / plane;
    const float factor = inverse * number_of(scale[channel]), add = number_of(shift[channel]);
    Pack<T, N> to{};
    repeat<N>([&](auto k) {
      to.values[k()] = element_of<T>((number_of(pack.values[k()]) - mean) * factor + add);
    });
    y.template store<N>(group * length + at, to);
  });
}

/// Elements of the axes from `axis` on.
int64_t elements_from(const TensorView& view, int axis) {
  int64_t count = 1;
  for (int i = axis; i < view.rank; ++i) count *= view.extents[i];
  return count;
}

}  // namespace

template <class T, class P>
Status BatchNormalization<T, P>::run(const KernelContext& context) {
  const auto& a = context.attributes<BatchNormalizationAttributes>();
  const TensorView &x = context.input(0), &y = context.output(0);
  if (x.count() == 0) return {};
  const bool last = a.channels_last != 0 && x.rank > 2;
  const int64_t plane = last ? 1 : elements_from(x, 2);
  const Batch<T, P> batch{elements<T>(x),
                          elements<P>(context.input(1)),
                          elements<P>(context.input(2)),
                          elements<P>(context.input(3)),
                          elements<P>(context.input(4)),
                          writable<T>(y),
                          x.count(),
                          context.input(1).count(),
                          plane,
                          a.epsilon};
  constexpr int N = kPack<T>;
  const int64_t run = plane == 1 ? batch.channels : plane;
  if (run % N == 0 && takes_packs<T, N>(x) && takes_packs<T, N>(y)) {
    return launched(context, launch<batch_norm_kernel<N, T, P>>(grid_for(batch.count / N), kThreads,
                                                                stream_of(context), batch));
  }
  return launched(context, launch<batch_norm_kernel<1, T, P>>(grid_for(batch.count), kThreads,
                                                              stream_of(context), batch));
}

template <class Op, class T>
Status GroupedNormalization<Op, T>::run(const KernelContext& context) {
  const auto& a = context.attributes<typename Op::Attributes>();
  const TensorView &x = context.input(0), &y = context.output(0);
  if (x.count() == 0) return {};
  int64_t groups = x.extents[1];
  if constexpr (std::is_same_v<Op, GroupOp>) groups = a.num_groups;
  const int64_t plane = elements_from(x, 2), channels = x.extents[1] / groups;
  const auto start = [&](auto n) {
    return launched(context, launch<group_norm_kernel<n(), T>>(
                                 static_cast<unsigned>(x.extents[0] * groups), kGroupThreads,
                                 stream_of(context), elements<T>(x), elements<T>(context.input(1)),
                                 elements<T>(context.input(2)), writable<T>(y), groups, channels,
                                 plane, a.epsilon));
  };
  constexpr int N = kPack<T>;
  return plane % N == 0 && takes_packs<T, N>(x) && takes_packs<T, N>(y)
             ? start(std::integral_constant<int, N>())
             : start(std::integral_constant<int, 1>());
}

extern const KernelList channel_norm_kernels;
constinit const KernelList channel_norm_kernels = kernel_list<ChannelNormKernels>();

}  // namespace intarsia::cuda
