// SPDX-License-Identifier: Apache-2.0
//
// Sliding a window over an image: which input elements the taps of an output position meet.
//
// Kernels carry several output positions of the last spatial axis (lanes) through all taps at once.
// Along every other axis a tap lies inside the input or not; along the last one it does so for a
// range of lanes. REQUIRES for all of this file: the operator's shape rule accepted the operands.
#pragma once

#include "core/operators/nn/conv.h"

namespace intarsia::cpu {

struct WindowWalk {
  int spatial = 0;
  bool channels_last = false;
  int64_t batch = 0, channels = 0;
  int64_t taps = 1, in_plane = 1, out_plane = 1;
  int64_t in[kMaxSpatial], out[kMaxSpatial], kernel[kMaxSpatial];
  int64_t stride[kMaxSpatial], dilation[kMaxSpatial];
  int64_t before[kMaxSpatial], after[kMaxSpatial];
  int64_t step[kMaxSpatial];  ///< Elements from one input position to the next along an axis.
  int64_t channel_step = 1;   ///< Elements from one input channel to the next.
  int64_t lane_step = 1;      ///< Input elements from one lane to the next, where two meet a tap.

  /// `kernel_extents` are the taps along each spatial axis.
  WindowWalk(const TensorView& x, const TensorView& y, const int32_t* kernel_extents,
             const WindowAttributes& window, bool last);

  /// Leaves out all axes but one along which there is one element, under one tap, so that lanes run
  /// along the axis that has elements. Offsets and numbers of taps stay.
  void drop_single_positions();

  /// The same windows as those of fewer planes, where each plane has one result, of neighbours that
  /// lie inside of it: several planes are one row, whose lanes are their results. Else as it is.
  WindowWalk with_joined_planes() const;
  /// The same windows of lines (one spatial axis) as those of images whose rows are the planes, so
  /// that what is known of one row holds for them all. Else as it is.
  WindowWalk with_planes_as_rows() const;

  int last() const { return spatial - 1; }
  /// Output rows of one channel: positions along all spatial axes but the last.
  int64_t out_rows() const {
    int64_t rows = 1;
    for (int i = 0; i < last(); ++i) rows *= out[i];
    return rows;
  }
  /// Coordinates of output row `row`.
  void decode_row(int64_t row, int64_t* position) const {
    for (int i = last() - 1; i >= 0; --i) {
      position[i] = row % out[i];
      row /= out[i];
    }
  }

  /// Elements along `axis` from the first to the last one under a window.
  int64_t reach(int axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  /// Taps along `axis` that lie in the input if the first one of all lies at `start`.
  TapRun taps_from(int axis, int64_t start) const {
    return taps_between(kernel[axis], dilation[axis], start, 0, in[axis]);
  }

  /// For the output positions (position, first .. first + lanes) calls `body(tap, offset, low,
  /// high)` per tap that meets the input: lanes [low, high) do, and `offset` is the input element
  /// of lane `low`, relative to the channel's first; further lanes follow every `lane_step`
  /// elements. Taps in the padding are not walked: a plan may ask for any number of them.
  template <class Body>
  void for_taps(const int64_t* position, int64_t first, int64_t lanes, const Body& body) const {
    if (taps == 0) return;  // an extent of 0 along any axis; the loop takes each axis once at least
    const int w = last();
    int64_t start[kMaxSpatial], index[kMaxSpatial];
    TapRun taps[kMaxSpatial];
    for (int i = 0; i < w; ++i) {
      start[i] = position[i] * stride[i] - before[i];
      taps[i] = taps_from(i, start[i]);
      if (taps[i].count() == 0) return;
      index[i] = taps[i].first;
    }
    // The last lane meets the first tap, and lane 0 the last one.
    const int64_t start_w = first * stride[w] - before[w];
    const int64_t from = taps_from(w, start_w + (lanes - 1) * stride[w]).first;
    const int64_t to = taps_from(w, start_w).end;
    for (;;) {
      int64_t tap = 0, offset = 0;
      for (int i = 0; i < w; ++i) {
        tap = (tap + index[i]) * kernel[i + 1];
        offset += (start[i] + index[i] * dilation[i]) * step[i];
      }
      for (int64_t k = from; k < to; ++k) {
        const int64_t at = start_w + k * dilation[w];
        const int64_t low = at < 0 ? (stride[w] - 1 - at) / stride[w] : 0;
        const int64_t end = (in[w] - 1 - at) / stride[w] + 1;
        const int64_t high = end < lanes ? end : lanes;
        if (low < high) body(tap + k, offset + (at + low * stride[w]) * step[w], low, high);
      }
      int axis = w - 1;
      for (; axis >= 0; --axis) {
        if (++index[axis] < taps[axis].end) break;
        index[axis] = taps[axis].first;
      }
      if (axis < 0) return;
    }
  }

  /// The taps along the first `axes` spatial axes that lie in the input, as runs along the last one
  /// of these: `count` taps, `distance` elements apart, the first of which is `offset` elements
  /// behind the channel's first. Without axes: one tap.
  struct Runs {
    int64_t offset = 0, count = 1, distance = 0;

    Runs(const WindowWalk& walk, const int64_t* position, int axes);
    /// False after the last run.
    bool next();

   private:
    const WindowWalk& walk_;
    const int run_;
    int64_t index_[kMaxSpatial];
    TapRun taps_[kMaxSpatial];
  };
  template <class Body>
  void for_tap_runs(const int64_t* position, int axes, const Body& body) const {
    if (axes == 1) {  // images with channels first
      const int64_t start = position[0] * stride[0] - before[0];
      const TapRun run = taps_from(0, start);
      if (run.count() == 0) return;
      return body((start + run.first * dilation[0]) * step[0], run.count(), dilation[0] * step[0]);
    }
    Runs runs(*this, position, axes);
    if (runs.count == 0) return;
    do {
      body(runs.offset, runs.count, runs.distance);
    } while (runs.next());
  }

  /// Number of taps along `axis` that meet the input, or with `padding` the padded input.
  int64_t taps_inside(int axis, int64_t position, bool padding) const {
    const int64_t start = position * stride[axis] - before[axis];
    return taps_between(kernel[axis], dilation[axis], start, padding ? -before[axis] : 0,
                        in[axis] + (padding ? after[axis] : 0))
        .count();
  }
  /// The same along the first `axes` axes together.
  int64_t taps_inside(const int64_t* position, int axes, bool padding) const {
    int64_t count = 1;
    for (int i = 0; i < axes; ++i) count *= taps_inside(i, position[i], padding);
    return count;
  }

 private:
  void set_lane_step();
};

}  // namespace intarsia::cpu
