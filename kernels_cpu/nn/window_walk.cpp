// SPDX-License-Identifier: Apache-2.0
//
// See window_walk.h.
#include "kernels_cpu/nn/window_walk.h"

namespace intarsia::cpu {

WindowWalk::WindowWalk(const TensorView& x, const TensorView& y, const int32_t* kernel_extents,
                       const WindowAttributes& window, bool last)
    : spatial(x.rank - 2), channels_last(last), batch(x.extents[0]) {
  const ImageAxes axes{x.rank, last};
  channels = x.extents[axes.channel()];
  for (int i = 0; i < spatial; ++i) {
    in[i] = x.extents[axes.axis(i)];
    out[i] = y.extents[axes.axis(i)];
    kernel[i] = kernel_extents[i];
    stride[i] = window.stride(i);
    dilation[i] = window.dilation(i);
    before[i] = window.pad_before(i, in[i], out[i], kernel[i]);
    after[i] = window.pad_after(i, spatial, in[i], out[i], kernel[i]);
    taps *= kernel[i];
    in_plane *= in[i];
    out_plane *= out[i];
  }
  int64_t distance = last ? channels : 1;
  for (int i = spatial - 1; i >= 0; --i) {
    step[i] = distance;
    distance *= in[i];
  }
  channel_step = last ? 1 : in_plane;
  set_lane_step();
}

void WindowWalk::set_lane_step() {
  const int w = last();
  lane_step = (stride[w] < in[w] ? stride[w] : in[w]) * step[w];
}

void WindowWalk::drop_single_positions() {
  for (int axis = spatial - 1; axis >= 0 && spatial > 1; --axis) {
    if (in[axis] != 1 || out[axis] != 1 || kernel[axis] != 1 || before[axis] != 0) continue;
    --spatial;
    for (int64_t* of : {in, out, kernel, stride, dilation, before, after, step}) {
      for (int i = axis; i < spatial; ++i) of[i] = of[i + 1];
    }
  }
  set_lane_step();
}

WindowWalk WindowWalk::with_joined_planes() const {
  constexpr int64_t kLeast = 8, kMost = 256;
  if (channels_last || out_plane != 1) return *this;
  const int64_t planes = batch * channels;
  int64_t joined = planes < kMost ? planes : kMost;
  while (joined >= kLeast && planes % joined != 0) --joined;
  if (joined < kLeast) return *this;
  bool rows = true;  // whole ones so far, from the last axis on
  for (int i = last(); i >= 0; --i) {
    const bool inside = before[i] == 0 && reach(i) <= in[i];
    if (!inside || (kernel[i] > 1 && (dilation[i] > 1 || !rows))) return *this;
    rows = rows && kernel[i] == in[i];
  }
  WindowWalk walk = *this;
  walk.spatial = 1;
  walk.batch = planes / joined;
  walk.channels = 1;
  walk.in_plane = walk.in[0] = walk.channel_step = in_plane * joined;
  walk.out_plane = walk.out[0] = joined;
  walk.kernel[0] = taps;
  walk.stride[0] = in_plane;
  walk.dilation[0] = walk.step[0] = 1;
  walk.before[0] = walk.after[0] = 0;
  walk.set_lane_step();
  return walk;
}

WindowWalk WindowWalk::with_planes_as_rows() const {
  if (channels_last || spatial != 1 || batch * channels == 1) return *this;
  WindowWalk walk = *this;
  walk.spatial = 2;
  for (int64_t* of : {walk.in, walk.out, walk.kernel, walk.stride, walk.dilation, walk.before,
                      walk.after, walk.step}) {
    of[1] = of[0];
  }
  walk.in[0] = walk.out[0] = batch * channels;
  walk.kernel[0] = walk.stride[0] = walk.dilation[0] = 1;
  walk.before[0] = walk.after[0] = 0;
  walk.step[0] = in_plane;
  walk.in_plane = walk.channel_step = in_plane * walk.in[0];
  walk.out_plane = out_plane * walk.out[0];
  walk.batch = walk.channels = 1;
  walk.set_lane_step();
  return walk;
}

WindowWalk::Runs::Runs(const WindowWalk& walk, const int64_t* position, int axes)
    : walk_(walk), run_(axes - 1) {
  for (int i = 0; i < axes; ++i) {
    const int64_t start = position[i] * walk.stride[i] - walk.before[i];
    taps_[i] = walk.taps_from(i, start);
    if (taps_[i].count() == 0) {
      count = 0;
      return;
    }
    index_[i] = taps_[i].first;
    offset += (start + index_[i] * walk.dilation[i]) * walk.step[i];
  }
  if (run_ < 0) return;
  count = taps_[run_].count();
  distance = walk.dilation[run_] * walk.step[run_];
}

bool WindowWalk::Runs::next() {
  for (int axis = run_ - 1; axis >= 0; --axis) {
    const int64_t further = walk_.dilation[axis] * walk_.step[axis];
    offset += further;
    if (++index_[axis] < taps_[axis].end) return true;
    offset -= taps_[axis].count() * further;
    index_[axis] = taps_[axis].first;
  }
  return false;
}

}  // namespace intarsia::cpu
