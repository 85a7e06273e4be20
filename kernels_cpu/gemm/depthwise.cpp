// SPDX-License-Identifier: Apache-2.0
//
// See depthwise.h. A unit is a few output rows of a plane, of a slice of the channels; inside it,
// runs of rows that see the same kernel rows go to the micro-kernel together.
#include "kernels_cpu/gemm/depthwise.h"

#include "kernels_cpu/gemm/even_block.h"

namespace intarsia::cpu {
namespace {

// A unit's channels: four cache lines of each pixel.
constexpr int64_t kUnitChannels = 64;
// Most rows of a unit: enough that most input rows under its windows serve several output rows.
constexpr int64_t kMostRows = 8;

struct UnitPixels {
  int64_t rows;
  int64_t columns = 0, parts = 1;  // Of a row.
};
// Nearly the same for all units: so threads have equal shares, the halves that products have.
UnitPixels unit_pixels(const ConvShape& s) {
  constexpr int64_t kLong = 32, kMostColumns = 256;
  if (INTARSIA_HAS_VECTORS && s.out_h <= kMostRows && s.out_w >= kLong) {  // of few long rows, too
    if (s.out_h % 2 == 0) return {s.out_h / 2};
    const int64_t columns = ceil_div(s.out_w, 2 * ceil_div(s.out_w, kMostColumns));
    return {1, columns, ceil_div(s.out_w, columns)};
  }
  const int64_t blocks = ceil_div(s.out_h, kMostRows);
  return {ceil_div(s.out_h, INTARSIA_HAS_VECTORS && blocks > 1 ? round_up(blocks, 2) : blocks)};
}

constexpr bool kVolumes = kDepthwiseAxes == 3;

// The kernel rows, or planes, [first, last) that lie inside the image.
struct Taps {
  int64_t first;
  int64_t last;
};

// Of `kernel` taps `dilation` apart from `start` on, those inside [0, in).
Taps taps_inside(int64_t start, int64_t kernel, int64_t dilation, int64_t in) {
  Taps t{0, kernel};
  while (t.first < t.last && start + t.first * dilation < 0) ++t.first;
  while (t.first < t.last && start + (t.last - 1) * dilation >= in) --t.last;
  return t.first < t.last ? t : Taps{0, 0};
}

}  // namespace

int64_t depthwise_units(const ConvShape& s) {
  if (s.batch <= 0 || s.out_d <= 0 || s.out_h <= 0 || s.out_w <= 0 || s.out_c <= 0) return 0;
  const UnitPixels unit = unit_pixels(s);
  return s.batch * s.out_d * ceil_div(s.out_h, unit.rows) * unit.parts *
         ceil_div(s.out_c, kUnitChannels);
}

void depthwise_run(const DepthwiseArgs& args, int64_t begin, int64_t end) {
  const ConvShape& s = args.shape;
  const int64_t row_floats = s.in_w * s.in_pitch;
  const int64_t plane_floats = s.in_h * row_floats;
  DepthwiseBlock b{};
  // Where two rows are in the image, they are closer to one another than its height; so planes.
  b.input_step = min(s.stride_h, s.in_h) * row_floats;
  b.row_pitch = min(s.dilation_h, s.in_h) * row_floats;
  b.plane_pitch = min(s.dilation_d, s.in_d) * plane_floats;
  b.pixel_pitch = s.in_pitch;
  b.width = s.in_w;
  b.stride = s.stride_w;
  b.dilation = s.dilation_w;
  b.cols = static_cast<int>(s.kernel_w);
  b.weights_row_pitch = s.kernel_w * s.out_c;
  b.weights_plane_pitch = s.kernel_h * b.weights_row_pitch;
  b.weights_pitch = s.out_c;
  b.multiplier = s.in_c == 0 ? 1 : s.out_c / s.in_c;
  b.output_row_pitch = s.out_row_pitch != 0 ? s.out_row_pitch : s.out_w * s.out_pitch;
  b.output_pitch = s.out_pitch;
  b.epilogue = args.epilogue;
  const int64_t output_plane =
      s.out_plane_pitch != 0 ? s.out_plane_pitch : s.out_h * b.output_row_pitch;
  const int64_t output_image = s.out_image_pitch != 0 ? s.out_image_pitch : s.out_d * output_plane;
  const int64_t slices = ceil_div(s.out_c, kUnitChannels);
  const UnitPixels pixels = unit_pixels(s);
  const int64_t row_blocks = ceil_div(s.out_h, pixels.rows);
  const int64_t parts = INTARSIA_HAS_VECTORS ? pixels.parts : 1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t c = unit % slices * kUnitChannels;
    const int64_t x = INTARSIA_HAS_VECTORS ? unit / slices % parts * pixels.columns : 0;
    const int64_t plane = unit / slices / parts / row_blocks;
    const int64_t image = kVolumes ? plane / s.out_d : plane, z = kVolumes ? plane % s.out_d : 0;
    const int64_t y0 = unit / slices / parts % row_blocks * pixels.rows;
    const int64_t y1 = min(y0 + pixels.rows, s.out_h);
    b.pixels = parts == 1 ? s.out_w : min(pixels.columns, s.out_w - x);
    b.pad_left = s.pad_left - x * s.stride_w;
    b.channels = min(kUnitChannels, s.out_c - c);
    b.lead = c % b.multiplier;
    b.bias = args.bias ? args.bias + c : nullptr;
    const int64_t front = kVolumes ? z * s.stride_d - s.pad_front : 0;
    const Taps planes =
        kVolumes ? taps_inside(front, s.kernel_d, s.dilation_d, s.in_d) : Taps{0, 1};
    b.planes = planes.last > 0 ? static_cast<int>(planes.last - planes.first) : 1;
    const float* input = args.input + image * s.in_d * plane_floats + c / b.multiplier;
    const float* weights = args.weights + planes.first * b.weights_plane_pitch + c;
    const int64_t kernel_h = s.in_c > 0 && planes.last > 0 ? s.kernel_h : 0;
    const auto rows_inside = [&](int64_t y) {
      return taps_inside(y * s.stride_h - s.pad_top, kernel_h, s.dilation_h, s.in_h);
    };
    for (int64_t y = y0; y < y1; y += b.height) {
      const Taps rows = rows_inside(y);
      b.height = 1;
      for (; y + b.height < y1; ++b.height) {
        const Taps next = rows_inside(y + b.height);
        if (next.first != rows.first || next.last != rows.last) break;
      }
      b.rows = static_cast<int>(rows.last - rows.first);
      b.input = input;
      if (b.rows > 0) {
        b.input += (front + planes.first * s.dilation_d) * plane_floats;
        b.input += (y * s.stride_h - s.pad_top + rows.first * s.dilation_h) * row_floats;
      }
      b.weights = weights + rows.first * b.weights_row_pitch;
      const int64_t at =
          image * output_image + z * output_plane + y * b.output_row_pitch + x * s.out_pitch + c;
      b.output = args.output + at;
      b.residual = args.residual != nullptr ? args.residual + at : nullptr;
      args.kernel(b);
    }
  }
}

}  // namespace intarsia::cpu
