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
  const int w = this->last();
  lane_step = (stride[w] < in[w] ? stride[w] : in[w]) * step[w];
}

}  // namespace intarsia::cpu
