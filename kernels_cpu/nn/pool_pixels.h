// SPDX-License-Identifier: Apache-2.0
//
// Pooling by vectors, channels last: vectors of channels take all taps of a result. See
// pool_reduce.h, which says what a Reducer and Lines are.
#pragma once

#include "kernels_cpu/common/lane_vector.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/nn/pool_taps.h"

namespace intarsia::cpu {

/// Results of a pixel in kVectors vectors of channels.
template <int kVectors, class L, class T, class Reducer, class Lines>
void reduce_channels(const PoolTaps& taps, const T* x, T* y, Reducer reducer, const Lines& lines) {
  typename L::V sums[kVectors], value;
  INTARSIA_UNROLLED
  for (int i = 0; i < kVectors; ++i) L::fill(sums[i], reducer.identity());
  for (int64_t k = taps.begin; k < taps.end; ++k) {
    const T* from = x + (taps.base + taps.offset[k]);
    INTARSIA_UNROLLED
    for (int i = 0; i < kVectors; ++i) {
      L::load(from + i * L::kLanes, value);
      reducer.step(sums[i], value);
    }
  }
  INTARSIA_UNROLLED
  for (int i = 0; i < kVectors; ++i) lines.template store<L>(y + i * L::kLanes, sums[i]);
}

/// Output rows [begin, end) of all images, channels last. REQUIRES: walk.taps <= kPoolTaps.
template <int kBytes, class T, class Reducer, class Lines>
void reduce_pixels(const WindowWalk& walk, int64_t begin, int64_t end, const T* x, T* y,
                   Reducer reducer, Lines& lines) {
  using A = typename Reducer::Accumulator;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(A)), kVectors = 4;
  const int w = walk.last();
  const int64_t rows = walk.out_rows(), channels = walk.channels;
  PoolTaps taps(walk, walk.spatial);
  for (int64_t unit = begin; unit < end; ++unit) {
    int64_t position[kMaxSpatial];
    walk.decode_row(unit % rows, position);
    const T* image = x + unit / rows * walk.in_plane * channels;
    T* to = y + unit * walk.out[w] * channels;
    for (position[w] = 0; position[w] < walk.out[w]; ++position[w], to += channels) {
      taps.find(position);
      lines.pixel(taps, position);
      int64_t c = 0;
      for (; c + kVectors * kLanes <= channels; c += kVectors * kLanes) {
        using L = LaneVector<A, kLanes>;
        reduce_channels<kVectors, L>(taps, image + c, to + c, reducer, lines);
      }
      for_lane_vectors<kLanes>(c, channels, [&](auto n, int64_t i) {
        using L = LaneVector<A, n()>;
        reduce_channels<1, L>(taps, image + i, to + i, reducer, lines);
      });
    }
  }
}

}  // namespace intarsia::cpu
