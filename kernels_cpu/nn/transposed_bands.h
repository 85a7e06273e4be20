// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution as sums of what each tap makes of the pixels, in float, channels first or
// last, of 1 to 3 spatial axes: the products of the pixels by one tap of one filter are added to
// the outputs that the tap meets.
//
// A unit is a band of outputs along the outermost axis. Pixels at its edges are taken for both
// bands, so that no two units write the same output, and every sum has one order.
#pragma once

#include "core/operators/nn/conv.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {

struct TransposedAxis {
  int64_t in, out, kernel, stride, dilation, pad;

  int64_t output(int64_t input, int64_t tap) const { return input * stride + tap * dilation - pad; }
  /// The first input at which that tap meets output `out` or one behind it; may be out of range.
  int64_t first_input(int64_t tap, int64_t at) const {
    const int64_t distance = at + pad - tap * dilation;
    if (distance <= 0) return 0;
    return stride == 1 ? distance : (distance + stride - 1) / stride;
  }
};

/// The outputs [begin, end) of an axis and the inputs that meet them.
struct Band {
  int64_t begin, end, first, last;
};

/// Elements from pixel to pixel, channel to channel and image to image.
struct ImageStrides {
  int64_t pixel, channel, image;

  ImageStrides(const KernelContext& context, int64_t channels, int64_t pixels)
      : pixel(1), channel(pixels), image(channels * pixels) {
    if (context.attributes<ConvTransposeAttributes>().channels_last != 0) {
      pixel = channels;
      channel = 1;
    }
  }
};

struct TapProduct {
  ConvShape s;
  TransposedAxis d, h, w;
  int64_t taps, filters, depth;  ///< Filters and depth of a group.
  int64_t pixels;                ///< That are multiplied together.

  ImageStrides x, y;

  explicit TapProduct(const KernelContext& context)
      : s(INTARSIA_HAS_VECTORS ? without_single_columns(transposed_shape(context))
                               : transposed_shape(context)),
        d{s.in_d, s.out_d, s.kernel_d, s.stride_d, s.dilation_d, s.pad_front},
        h{s.in_h, s.out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top},
        w{s.in_w, s.out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left},
        taps(s.kernel_d * s.kernel_h * s.kernel_w),
        filters(s.out_c / s.groups),
        depth(s.in_c / s.groups),
        x(context, s.in_c, s.in_d * s.in_h * s.in_w),
        y(context, s.out_c, s.out_d * s.out_h * s.out_w) {
    constexpr int64_t kRoom = 1 << 15, kMost = 16;  // panels
    pixels = kRoom / (rows() + depth + 1) / kPanel;
    pixels = kPanel * (pixels < 1 ? 1 : pixels < kMost ? pixels : kMost);
  }

  int64_t rows() const { return filters * taps; }
  int64_t pixels_of_image() const { return s.in_d * s.in_h * s.in_w; }
  /// A volume without planes is one, too: it has no pixel to multiply.
  bool of_volumes() const { return d.in != 1 || d.out != 1; }
  bool of_lines() const { return INTARSIA_HAS_VECTORS && !of_volumes() && h.in == 1 && h.out == 1; }
  const TransposedAxis& outer() const { return of_volumes() ? d : of_lines() ? w : h; }
  int64_t inner_pixels() const { return of_volumes() ? s.in_h * s.in_w : of_lines() ? 1 : s.in_w; }
  int64_t inner_outputs() const {
    return of_volumes() ? s.out_h * s.out_w : of_lines() ? 1 : s.out_w;
  }

  /// Into how many bands the outputs are cut: enough for several threads, few pixels twice.
  int64_t bands() const {
    constexpr int64_t kUnits = 16;
    const TransposedAxis& axis = outer();
    const int64_t whole = of_lines() ? pixels * axis.stride : 0;  // fill the panels
    const int64_t least = 4 * ((axis.kernel - 1) * axis.dilation + axis.stride) + 2 * whole;
    const int64_t wanted = kUnits / (s.batch * s.groups), most = axis.out / least;
    const int64_t count = wanted < most ? wanted : most;
    return count < 1 ? 1 : count;
  }
  Band band(int64_t index, int64_t count) const {
    const TransposedAxis& axis = outer();
    Band band{axis.out * index / count, axis.out * (index + 1) / count, 0, 0};
    band.first = axis.first_input(axis.kernel - 1, band.begin);
    band.last = axis.first_input(0, band.end);  // of the first tap, which reaches the fewest
    if (band.last > axis.in) band.last = axis.in;
    return band;
  }
};

/// One band of one group of one image.
struct BandRun {
  const TapProduct& product;
  Band band;
  float* output;  ///< The image's, from the group's channels on.
  int64_t pitch;  ///< Elements from a tap's products to those of the next one.

  void start(const float* bias) const {
    const int64_t inner = product.inner_outputs();
    for (int64_t c = 0; c < product.filters; ++c) {
      float* y = output + c * product.y.channel;
      const float start = bias != nullptr ? bias[c] : 0.0f;
      if (product.y.pixel == 1) {
        std::fill(y + band.begin * inner, y + band.end * inner, start);
        continue;
      }
      for (int64_t at = band.begin * inner; at < band.end * inner; ++at) {
        y[at * product.y.pixel] = start;
      }
    }
  }

  /// Whether a row of outputs is there, and the band's.
  bool meets(int64_t z, int64_t y) const {
    const int64_t place = product.of_volumes() ? z : product.of_lines() ? band.begin : y;
    return place >= band.begin && place < band.end && z >= 0 && z < product.s.out_d && y >= 0 &&
           y < product.s.out_h;
  }
  float* row_of(int64_t z, int64_t y) const {
    return output + (z * product.s.out_h + y) * product.s.out_w * product.y.pixel;
  }

  /// Adds the products of `count` pixels of one row, from column x on.
  void add(const float* products, int64_t z, int64_t y, int64_t x, int64_t count) const {
    const ConvShape& s = product.s;
    int64_t tap = 0;
    for (int64_t kz = 0; kz < s.kernel_d; ++kz) {
      for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
        const int64_t oz = product.d.output(z, kz), oy = product.h.output(y, ky);
        if (!meets(oz, oy)) {
          tap += s.kernel_w;
          continue;
        }
        float* row = row_of(oz, oy);
        const bool pairs = s.stride_w == 2 && s.dilation_w == 1 && product.y.pixel == 1;
        for (int64_t kx = 0; kx < s.kernel_w; ++kx, ++tap) {
          const float* sums = products + tap * pitch;
          if (pairs && kx + 1 < s.kernel_w) {
            for (int64_t c = 0; c < product.filters; ++c) {
              add_pair(sums + c * product.taps * pitch, row + c * product.y.channel, kx, x, count);
            }
            ++kx, ++tap;
          } else {
            add_tap(sums, row, kx, x, count);
          }
        }
      }
    }
  }

  /// The inputs among [x, x + count) at which a tap meets an output, of lines one of the band.
  struct Range {
    int64_t begin, end;
  };
  Range range(int64_t tap, int64_t x, int64_t count) const {
    const bool part = product.of_lines();
    const int64_t from = product.w.first_input(tap, part ? band.begin : 0),
                  to = product.w.first_input(tap, part ? band.end : product.w.out);
    return {from > x ? from : x, to < x + count ? to : x + count};
  }

  void add_tap(const float* sums, float* row, int64_t tap, int64_t x, int64_t count) const {
    const Range met = range(tap, x, count);
    const int64_t step = product.w.stride * product.y.pixel, n = met.end - met.begin;
    for (int64_t c = 0; c < product.filters; ++c, sums += product.taps * pitch) {
      const float* sum = sums + (met.begin - x);
      float* y = row + product.w.output(met.begin, tap) * product.y.pixel + c * product.y.channel;
      if (step == 1) {
        INTARSIA_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) y[i] += sum[i];
      } else {
        for (int64_t i = 0; i < n; ++i) y[i * step] += sum[i];
      }
    }
  }

  /// Two taps that meet neighbours of every other output: together they leave no gaps, which is
  /// vector code.
  void add_pair(const float* sums, float* row, int64_t tap, int64_t x, int64_t count) const {
    const Range a = range(tap, x, count), b = range(tap + 1, x, count);
    const int64_t begin = a.begin > b.begin ? a.begin : b.begin;
    const int64_t end = a.end < b.end ? a.end : b.end;
    const float *first = sums - x, *second = first + pitch;
    const auto add = [&](const float* from, int64_t at, int64_t k) {
      row[product.w.output(at, k)] += from[at];
    };
    for (int64_t i = a.begin; i < begin && i < a.end; ++i) add(first, i, tap);
    for (int64_t i = b.begin; i < begin && i < b.end; ++i) add(second, i, tap + 1);
    float* y = row + product.w.output(begin, tap);
    const int64_t n = end - begin;
    first += begin, second += begin;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      y[2 * i] += first[i];
      y[2 * i + 1] += second[i];
    }
    first -= begin, second -= begin;
    const int64_t done = n > 0 ? end : begin;
    for (int64_t i = done; i < a.end; ++i) add(first, i, tap);
    for (int64_t i = done; i < b.end; ++i) add(second, i, tap + 1);
  }
};

}  // namespace intarsia::cpu
