// SPDX-License-Identifier: Apache-2.0
//
// Images of bytes with few channels as rows, for products of their windows (conv_integer_packed.h).
#pragma once

#include <cstring>

#include "kernels_cpu/gemm/typed.h"
#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {

/// Groups of a tap.
template <class S>
CheckedInt tap_groups(const TensorView& w) {
  return floor_div(CheckedInt(w.extents[1]) + kGroup<S> - 1, kGroup<S>);
}
/// Bytes from tap to tap of the packed weights.
inline CheckedInt tap_pitch(const TensorView& w) {
  return tap_groups<Int16Pair>(w) * kGroup<Int16Pair>;
}

/// Few channels as rows: an image with its padding, whose pixels are as many bytes as the taps of
/// the packed weights, so that a row of a window is one run of bytes, and so one tap.
struct ByteRows {
  ConvShape windows;  ///< Over such an image.
  int64_t pixel;      ///< Bytes of a pixel.
  int64_t taps;       ///< Of a window, each `bytes` long.
  int64_t bytes;

  static bool serve(const ConvShape& s) {
    constexpr int64_t kMostChannels = 8;
    return s.groups == 1 && s.in_c <= kMostChannels && s.kernel_w > 1 && s.dilation_w == 1;
  }
  ByteRows(const KernelContext& context, const ConvShape& s)
      : windows(s),
        pixel(tap_pitch(context.input(1)).value()),
        taps(s.kernel_d * s.kernel_h),
        bytes(s.kernel_w * pixel) {
    const auto reach = [](int64_t out, int64_t stride, int64_t kernel, int64_t dilation) {
      return out > 0 ? ((CheckedInt(out) - 1) * stride + (kernel - 1) * dilation + 1).value() : 0;
    };
    windows.in_d = reach(s.out_d, s.stride_d, s.kernel_d, s.dilation_d);
    windows.in_h = reach(s.out_h, s.stride_h, s.kernel_h, s.dilation_h);
    windows.in_w = reach(s.out_w, s.stride_w, s.kernel_w, 1);
    windows.kernel_w = 1;
    windows.pad_front = windows.pad_top = windows.pad_left = 0;
    windows.in_pitch = pixel;
  }
  /// K of the product.
  template <class S>
  int64_t depth() const {
    return (CheckedInt(taps) * floor_div(CheckedInt(bytes) + kGroup<S> - 1, kGroup<S>)).value();
  }
  CheckedInt image_bytes() const {
    return CheckedInt(windows.batch) * windows.in_d * windows.in_h * windows.in_w * pixel;
  }
  int64_t rows() const { return windows.batch * windows.in_d * windows.in_h; }
  /// Rows [begin, end) of the image that belongs to `s`.
  void copy(const ConvShape& s, const ByteOperand& x, int64_t begin, int64_t end,
            uint8_t* to) const {
    const int64_t width = windows.in_w * pixel;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t y = row % windows.in_h - s.pad_top;
      const int64_t z = row / windows.in_h % windows.in_d - s.pad_front;
      const int64_t image = row / windows.in_h / windows.in_d;
      uint8_t* pixels = to + row * width;
      std::memset(pixels, *x.zeros, static_cast<size_t>(width));
      if (y < 0 || y >= s.in_h || z < 0 || z >= s.in_d) continue;
      const int64_t left = s.pad_left > 0 ? s.pad_left : 0, first = left - s.pad_left;
      const int64_t stop =
          windows.in_w - left < s.in_w - first ? windows.in_w - left : s.in_w - first;
      copy_pixels(x.data + (((image * s.in_d + z) * s.in_h + y) * s.in_w + first) * s.in_pitch,
                  s.in_pitch, s.in_c, stop, pixels + left * pixel);
    }
  }

 private:
  void copy_pixels(const uint8_t* from, int64_t step, int64_t channels, int64_t count,
                   uint8_t* to) const {
    for (; count > 0; --count, from += step, to += pixel) {
      if (channels == 3) {  // colours
        std::memcpy(to, from, 2);
        to[2] = from[2];
      } else {
        for (int64_t c = 0; c < channels; ++c) to[c] = from[c];
      }
    }
  }
};

}  // namespace intarsia::cpu
