// SPDX-License-Identifier: Apache-2.0
//
// See conv_transpose.h.
#include "kernels_cpu/gemm/conv_transpose.h"

#include <numeric>

#include "kernels_cpu/gemm/pack.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/// Taps that meet the same outputs lie so far apart.
int64_t tap_step(int64_t stride, int64_t dilation) {
  return stride / std::gcd(stride, dilation);
}

/// One axis of a phase; phases are stored in the order of their first taps.
struct PhaseAxis {
  int64_t first = 0, step = 1, taps = 0;
  int64_t taps_before = 0;
  int64_t outputs = 0, pad = 0, dilation = 0;
};

PhaseAxis axis_from(int64_t first, int64_t step, int64_t kernel) {
  PhaseAxis axis;
  axis.first = first;
  axis.step = step;
  axis.taps = first < kernel ? (kernel - 1 - first) / step + 1 : 0;
  axis.taps_before = first * (kernel / step) + least(first, kernel % step);
  return axis;
}

/// Phase `r` of an axis. Tap k meets output r + t * stride at input t + (r + pad - k * dilation) /
/// stride, if that is no fraction.
PhaseAxis axis_at(int64_t r, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                  int64_t pad) {
  const int64_t step = tap_step(stride, dilation);
  int64_t first = 0;
  while (first < kernel && (r + pad - first * dilation) % stride != 0) {
    if (++first == step) first = kernel;
  }
  PhaseAxis axis = axis_from(first, step, kernel);
  axis.outputs = (out - r + stride - 1) / stride;
  axis.pad = -((r + pad - first * dilation) / stride);
  axis.dilation = -(step * dilation / stride);
  return axis;
}

int64_t taps_before(const ConvShape& s, const PhaseAxis& d, const PhaseAxis& h,
                    const PhaseAxis& w) {
  return (d.taps_before * s.kernel_h + d.taps * h.taps_before) * s.kernel_w +
         d.taps * h.taps * w.taps_before;
}

/// Where the weights of a tap stand.
struct PhaseTap {
  int64_t index, taps;  ///< Among those of its phase.
  int64_t taps_before;
};

/// Calls body(tap, its place) for each tap of the kernel.
template <class Body>
void for_taps(const ConvShape& s, const Body& body) {
  const auto axis_of = [](int64_t tap, int64_t kernel_extent, int64_t step) {
    return axis_from(tap % step, step, kernel_extent);
  };
  const int64_t step_d = tap_step(s.stride_d, s.dilation_d);
  const int64_t step_h = tap_step(s.stride_h, s.dilation_h);
  const int64_t step_w = tap_step(s.stride_w, s.dilation_w);
  for (int64_t tap = 0; tap < s.kernel_d * s.kernel_h * s.kernel_w; ++tap) {
    const int64_t z = tap / (s.kernel_h * s.kernel_w), y = tap / s.kernel_w % s.kernel_h;
    const int64_t x = tap % s.kernel_w;
    const PhaseAxis d = axis_of(z, s.kernel_d, step_d);
    const PhaseAxis h = axis_of(y, s.kernel_h, step_h);
    const PhaseAxis w = axis_of(x, s.kernel_w, step_w);
    body(tap, PhaseTap{(z / step_d * h.taps + y / step_h) * w.taps + x / step_w,
                       d.taps * h.taps * w.taps, taps_before(s, d, h, w)});
  }
}

}  // namespace

ConvShape forwards(const ConvShape& phase) {
  ConvShape s = phase;
  s.pad_front -= (s.kernel_d - 1) * s.dilation_d;
  s.pad_top -= (s.kernel_h - 1) * s.dilation_h;
  s.pad_left -= (s.kernel_w - 1) * s.dilation_w;
  s.dilation_d = -s.dilation_d;
  s.dilation_h = -s.dilation_h;
  s.dilation_w = -s.dilation_w;
  return s;
}

bool TransposedPhases::next(TransposedPhase& phase) {
  const ConvShape& s = shape_;
  if (x_ == least(s.stride_w, s.out_w)) x_ = 0, ++y_;
  if (y_ == least(s.stride_h, s.out_h)) y_ = 0, ++z_;
  if (z_ >= least(s.stride_d, s.out_d) || s.out_w <= 0 || s.out_h <= 0) return false;
  const PhaseAxis d = axis_at(z_, s.out_d, s.kernel_d, s.stride_d, s.dilation_d, s.pad_front);
  const PhaseAxis h = axis_at(y_, s.out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top);
  const PhaseAxis w = axis_at(x_, s.out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left);
  phase = {s, 0, taps_before(s, d, h, w)};
  ConvShape& p = phase.shape;
  p.out_d = d.outputs, p.out_h = h.outputs, p.out_w = w.outputs;
  p.kernel_d = d.taps, p.kernel_h = h.taps, p.kernel_w = w.taps;
  p.dilation_d = d.dilation, p.dilation_h = h.dilation, p.dilation_w = w.dilation;
  p.pad_front = d.pad, p.pad_top = h.pad, p.pad_left = w.pad;
  p.stride_d = p.stride_h = p.stride_w = 1;
  if (d.taps == 0 || h.taps == 0 || w.taps == 0) {
    p.kernel_d = p.kernel_h = p.kernel_w = 1;
    p.in_c = 0;
    phase.taps_before = 0;
  }
  // The output has no gaps but for what other phases have in between.
  const int64_t row = s.out_w * s.out_pitch, plane = s.out_h * row;
  phase.output = z_ * plane + y_ * row + x_ * s.out_pitch;
  p.out_pitch = s.stride_w * s.out_pitch;
  p.out_row_pitch = s.stride_h * row;
  p.out_plane_pitch = s.stride_d * plane;
  p.out_image_pitch = s.out_d * plane;
  ++x_;
  return true;
}

CheckedInt transposed_workspace_bytes(const ConvShape& shape) {
  // A phase has at most so many outputs and taps.
  const auto part = [](int64_t all, int64_t step) { return (all + step - 1) / step; };
  ConvShape largest = shape;
  largest.out_d = part(shape.out_d, shape.stride_d);
  largest.out_h = part(shape.out_h, shape.stride_h);
  largest.out_w = part(shape.out_w, shape.stride_w);
  largest.kernel_d = part(shape.kernel_d, tap_step(shape.stride_d, shape.dilation_d));
  largest.kernel_h = part(shape.kernel_h, tap_step(shape.stride_h, shape.dilation_h));
  largest.kernel_w = part(shape.kernel_w, tap_step(shape.stride_w, shape.dilation_w));
  largest.dilation_w = -1;  // phases have no strips
  largest.out_row_pitch = 1;
  return conv_workspace_bytes(largest);
}

template <class E>
void pack_transposed(const ConvShape& s, const E* weights, E* packed) {
  const int64_t depth = s.in_c / s.groups, columns = s.out_c / s.groups;
  const int64_t kernel = s.kernel_d * s.kernel_h * s.kernel_w;
  const int64_t panels = panel_count(columns);
  // One tap of one group: for its channels, the rows of its panels.
  const auto pack_tap = [&](const E* from, E* to, int64_t panel_pitch) {
    for (int64_t p = 0; p < panels; ++p, to += panel_pitch) {
      for (int64_t c = 0; c < depth; ++c) {
        for (int64_t j = 0; j < kPanel; ++j) {
          const int64_t column = p * kPanel + j;
          to[c * kPanel + j] = column < columns ? from[(c * columns + column) * kernel] : E{};
        }
      }
    }
  };
  for_taps(s, [&](int64_t tap, const PhaseTap& at) {
    const int64_t panel_pitch = at.taps * depth * kPanel;
    E* phase = packed + at.taps_before * s.groups * panels * depth * kPanel;
    for (int64_t g = 0; g < s.groups; ++g) {
      pack_tap(weights + g * depth * columns * kernel + tap,
               phase + g * panels * panel_pitch + at.index * depth * kPanel, panel_pitch);
    }
  });
}

template <class E>
void pack_transposed_depthwise(const ConvShape& s, const E* weights, E* packed) {
  const int64_t kernel = s.kernel_d * s.kernel_h * s.kernel_w;
  for_taps(s, [&](int64_t tap, const PhaseTap& at) {
    E* to = packed + (at.taps_before + at.taps - 1 - at.index) * s.out_c;
    for (int64_t o = 0; o < s.out_c; ++o) to[o] = weights[o * kernel + tap];
  });
}

template void pack_transposed(const ConvShape&, const float*, float*);
template void pack_transposed(const ConvShape&, const uint16_t*, uint16_t*);
template void pack_transposed_depthwise(const ConvShape&, const float*, float*);
template void pack_transposed_depthwise(const ConvShape&, const uint16_t*, uint16_t*);

}  // namespace intarsia::cpu
