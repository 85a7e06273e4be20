// SPDX-License-Identifier: Apache-2.0
//
// See depthwise.h. A unit is a few output rows of a slice of the channels; inside it, runs of rows
// that see the same kernel rows go to the micro-kernel together.
#include "kernels_cpu/gemm/depthwise.h"

namespace intarsia::cpu {
namespace {

// A unit's channels: four cache lines of each pixel.
constexpr int64_t kUnitChannels = 64;
// A unit's rows: enough that most input rows under its windows serve several output rows.
constexpr int64_t kUnitRows = 8;

constexpr int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}
constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// The kernel rows [first, last) that lie inside the image for output row y.
struct Rows {
  int64_t first;
  int64_t last;
};

Rows rows_inside(const ConvShape& s, int64_t y) {
  const int64_t top = y * s.stride_h - s.pad_top;
  Rows r{0, s.in_c > 0 ? s.kernel_h : 0};
  while (r.first < r.last && top + r.first * s.dilation_h < 0) ++r.first;
  while (r.first < r.last && top + (r.last - 1) * s.dilation_h >= s.in_h) --r.last;
  return r.first < r.last ? r : Rows{0, 0};
}

}  // namespace

int64_t depthwise_units(const ConvShape& s) {
  if (s.batch <= 0 || s.out_h <= 0 || s.out_w <= 0 || s.out_c <= 0) return 0;
  return s.batch * ceil_div(s.out_h, kUnitRows) * ceil_div(s.out_c, kUnitChannels);
}

void depthwise_run(const DepthwiseArgs& args, int64_t begin, int64_t end) {
  const ConvShape& s = args.shape;
  const int64_t row_floats = s.in_w * s.in_pitch;
  DepthwiseBlock b{};
  // Where two rows are in the image, they are closer to one another than its height.
  b.input_step = min(s.stride_h, s.in_h) * row_floats;
  b.row_pitch = min(s.dilation_h, s.in_h) * row_floats;
  b.pixel_pitch = s.in_pitch;
  b.width = s.in_w;
  b.stride = s.stride_w;
  b.dilation = s.dilation_w;
  b.pad_left = s.pad_left;
  b.cols = static_cast<int>(s.kernel_w);
  b.weights_row_pitch = s.kernel_w * s.out_c;
  b.weights_pitch = s.out_c;
  b.multiplier = s.in_c == 0 ? 1 : s.out_c / s.in_c;
  b.output_row_pitch = s.out_row_pitch != 0 ? s.out_row_pitch : s.out_w * s.out_pitch;
  b.output_pitch = s.out_pitch;
  b.pixels = s.out_w;
  b.epilogue = args.epilogue;
  const int64_t output_image =
      s.out_image_pitch != 0 ? s.out_image_pitch : s.out_h * b.output_row_pitch;
  const int64_t slices = ceil_div(s.out_c, kUnitChannels);
  const int64_t row_blocks = ceil_div(s.out_h, kUnitRows);
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t c = unit % slices * kUnitChannels;
    const int64_t image = unit / slices / row_blocks;
    const int64_t y0 = unit / slices % row_blocks * kUnitRows;
    const int64_t y1 = min(y0 + kUnitRows, s.out_h);
    b.channels = min(kUnitChannels, s.out_c - c);
    b.lead = c % b.multiplier;
    b.bias = args.bias ? args.bias + c : nullptr;
    for (int64_t y = y0; y < y1; y += b.height) {
      const Rows rows = rows_inside(s, y);
      b.height = 1;
      for (; y + b.height < y1; ++b.height) {
        const Rows next = rows_inside(s, y + b.height);
        if (next.first != rows.first || next.last != rows.last) break;
      }
      b.rows = static_cast<int>(rows.last - rows.first);
      const int64_t top = b.rows == 0 ? 0 : y * s.stride_h - s.pad_top + rows.first * s.dilation_h;
      b.input = args.input + (image * s.in_h + top) * row_floats + c / b.multiplier;
      b.weights = args.weights + rows.first * b.weights_row_pitch + c;
      b.output = args.output + image * output_image + y * b.output_row_pitch + c;
      args.kernel(b);
    }
  }
}

}  // namespace intarsia::cpu
