// SPDX-License-Identifier: Apache-2.0
//
// Convolution of bytes with constant weights, channels last, of 1 to 3 spatial axes, as products:
// for each group one of the windows, which are packed block by block, and the filters
// (gemm/typed.h). The weights' bytes are [filter][tap][channel], with one more channel where their
// number is odd.
#pragma once

#include <cstring>

#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/common/typed_products.h"
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

inline CheckedInt taps_of(const TensorView& w) {
  CheckedInt taps = 1;
  for (int axis = 2; axis < w.rank; ++axis) taps *= w.extents[axis];
  return taps;
}

inline CheckedInt filter_bytes(const TensorView& w) {
  return taps_of(w) * tap_pitch(w);
}

inline ConvShape integer_conv_shape(const KernelContext& context) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  return conv_shape(context, a.window, a.group);
}

/// The product of one group of channels.
template <class S>
GemmShape integer_conv_product(const KernelContext& context, const ConvShape& s) {
  const CheckedInt pixels = CheckedInt(s.batch) * s.out_d * s.out_h * s.out_w;
  const TensorView& w = context.input(1);
  return {pixels.value(), s.out_c / s.groups, (taps_of(w) * tap_groups<S>(w)).value()};
}

inline void pack_byte_filters(const TensorView& w, uint8_t* to) {
  const int64_t channels = w.extents[1], taps = taps_of(w).value();
  const int64_t pitch = tap_pitch(w).value();
  const auto* from = w.as<const uint8_t>();
  for (int64_t filter = 0; filter < w.extents[0]; ++filter, from += channels * taps) {
    for (int64_t tap = 0; tap < taps; ++tap, to += pitch) {
      for (int64_t c = 0; c < channels; ++c) to[c] = from[c * taps + tap];
      if (pitch > channels) to[channels] = 0;  // met by zero points alone
    }
  }
}

/// Whether each window is one pixel, and each pixel a window.
inline bool is_pointwise(const ConvShape& s) {
  return s.kernel_d * s.kernel_h * s.kernel_w == 1 && s.stride_d * s.stride_h * s.stride_w == 1 &&
         s.pad_front == 0 && s.pad_top == 0 && s.pad_left == 0 && s.out_d == s.in_d &&
         s.out_h == s.in_h && s.out_w == s.in_w;
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

/// K of their product.
template <class S>
int64_t byte_rows_depth(const ByteRows& rows) {
  return (CheckedInt(rows.taps) * floor_div(CheckedInt(rows.bytes) + kGroup<S> - 1, kGroup<S>))
      .value();
}

/// The products of a node.
template <class S>
struct ByteConvProducts {
  const KernelContext& context;
  int zero_points;  ///< As for ByteOperand.
  ConvShape shape;
  GemmShape product;
  bool pointwise;
  // What is walked: the image itself, or as rows.
  ConvShape windows;
  const uint8_t* image;
  ptrdiff_t tap_bytes, tap_step;

  ByteConvProducts(const KernelContext& node, int zeros)
      : context(node),
        zero_points(zeros),
        shape(integer_conv_shape(node)),
        product(integer_conv_product<S>(node, shape)),
        pointwise(is_pointwise(shape)),
        windows(shape),
        image(node.input(0).as<const uint8_t>()),
        tap_bytes(node.input(1).extents[1]),
        tap_step(static_cast<ptrdiff_t>(tap_pitch(node.input(1)).value())) {}

  /// From now on the image is `rows`, which lie at `data`.
  void use(const ByteRows& rows, const uint8_t* data) {
    windows = rows.windows;
    image = data;
    tap_bytes = tap_step = static_cast<ptrdiff_t>(rows.bytes);
    product.k = byte_rows_depth<S>(rows);
  }

  /// That of one group, but for its result.
  TypedArgs<S> args(int64_t group) const {
    const ByteOperand x(context, 0, zero_points), w(context, 1, zero_points);
    const TensorView& weights = context.input(1);
    const auto row = static_cast<ptrdiff_t>(filter_bytes(weights).value());
    const int64_t first = group * product.n;
    TypedArgs<S> args{};
    args.shape = product;
    args.a = {image + group * tap_bytes, 0, 1, tap_bytes, x.flip, x.zeros, 0};
    if (pointwise) {
      args.a.lane_step = static_cast<ptrdiff_t>(shape.in_pitch);  // rows of a matrix
    } else {
      args.a.windows = &windows;
    }
    args.b = {w.data + first * row,
              row,
              1,
              tap_bytes,
              w.flip,
              w.zeros + first * w.zero_step,
              static_cast<ptrdiff_t>(w.zero_step),
              tap_step};
    args.isa = context.isa();
    return args;
  }
};

/// What kernels of such weights say of them.
struct ByteFilters {
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr std::string_view packing = "filters of pairs of channels";

  static bool serves(const KernelContext& context) { return context.input(0).rank <= 5; }
  static bool supports(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return w.data != nullptr && w.count() > 0 && serves(context);
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    const TensorView& w = context.input(1);
    return input == 1 ? (filter_bytes(w) * w.extents[0]).value() : 0;
  }
  static void pack(const KernelContext& context, int, void* packed) {
    pack_byte_filters(context.input(1), static_cast<uint8_t*>(packed));
  }
};

}  // namespace intarsia::cpu
