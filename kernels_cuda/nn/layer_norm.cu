// SPDX-License-Identifier: Apache-2.0
//
// A warp or a block to a row (rows.h), which stays in registers through the passes.
#include "kernels_cuda/nn/layer_norm.h"

#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cuda/common/rows.h"

namespace intarsia::cuda {
namespace {

template <class T, class V>
struct RowsToNormalize {
  Global<const T> x;
  Global<const V> scale, shift;
  Global<V> y;
  Global<float> means, inverses;
  int64_t length = 0, rows = 0;
  float epsilon = 0;
};

/// Centered: the mean is subtracted.
template <bool Centered, class T, class V, int N, int kThreads>
INTARSIA_GLOBAL normalize_rows_kernel(RowsToNormalize<T, V> r) {
  const RowPlace<kThreads> place;
  if (place.row >= r.rows) return;
  const int64_t first = place.row * r.length;
  const auto count = static_cast<float>(r.length);
  const RowPart<T, N, kThreads> part(r.x, first, r.length, place.lane);
  float mean = 0;
  if constexpr (Centered) {
    part.each([&](const Pack<T, N>& pack, int64_t) {
      repeat<N>([&](auto k) { mean += number_of(pack.values[k()]); });
    });
    mean = over_row<Total, kThreads, 0>(mean) / count;
  }
  float squares = 0;
  part.each([&](const Pack<T, N>& pack, int64_t) {
    repeat<N>([&](auto k) {
      const float deviation = number_of(pack.values[k()]) - mean;
      squares += deviation * deviation;
    });
  });
  squares = over_row<Total, kThreads, 1>(squares);
  const float inverse = 1 / sqrtf(squares / count + r.epsilon);
  part.each([&](const Pack<T, N>& pack, int64_t at) {
    const Pack<V, N> scale = r.scale.template pack<N>(at);
    Pack<V, N> shift{}, to{};
    if (r.shift.present()) shift = r.shift.template pack<N>(at);
    repeat<N>([&](auto k) {
      const float normal = (number_of(pack.values[k()]) - mean) * inverse;
      to.values[k()] =
          element_of<V>(normal * number_of(scale.values[k()]) + number_of(shift.values[k()]));
    });
    r.y.template store<N>(first + at, to);
  });
  if (place.lane == 0 && r.means.present()) r.means[place.row] = mean;
  if (place.lane == 0 && r.inverses.present()) r.inverses[place.row] = inverse;
}

template <bool Centered, class T, class V>
Status normalize_rows(const KernelContext& context) {
  const auto& a = context.attributes<LayerNormalizationAttributes>();
  const TensorView &x = context.input(0), &y = context.output(0);
  const int axis = ops::wrapped_axis(a.axis, x.rank);
  int64_t rows = 1, length = 1;
  for (int i = 0; i < x.rank; ++i) (i < axis ? rows : length) *= x.extents[i];
  if (rows == 0) return {};
  RowsToNormalize<T, V> r{
      elements<T>(x), elements<V>(context.input(1)), {}, writable<V>(y), {}, {}, length, rows,
      a.epsilon};
  constexpr int N = common_pack<T, V>();
  bool packed = takes_packs<T, N>(x) && takes_packs<V, N>(y) && takes_packs<V, N>(context.input(1));
  if constexpr (Centered) {
    const TensorView& shift = context.input(2);
    if (shift.present()) r.shift = elements<V>(shift);
    packed = packed && (!shift.present() || takes_packs<V, N>(shift));
    const TensorView &means = context.output(1), &inverses = context.output(2);
    if (means.present()) r.means = writable<float>(means);
    if (inverses.present()) r.inverses = writable<float>(inverses);
  }
  if (length == 0 && !r.means.present() && !r.inverses.present()) return {};
  return launched(context, start_rows<N>(length, packed, [&](auto n, auto threads) {
                    return launch<normalize_rows_kernel<Centered, T, V, n(), threads()>>(
                        row_blocks(rows, threads()), kRowThreads, stream_of(context), r);
                  }));
}

}  // namespace

template <class T>
Status LayerNormalization<T>::run(const KernelContext& context) {
  return normalize_rows<true, T, T>(context);
}

template <class T, class V>
Status RMSNormalization<T, V>::run(const KernelContext& context) {
  return normalize_rows<false, T, V>(context);
}

extern const KernelList layer_norm_kernels;
constinit const KernelList layer_norm_kernels = kernel_list<LayerNormKernels>();

}  // namespace intarsia::cuda
