// SPDX-License-Identifier: Apache-2.0
//
// Convolution of bytes with constant weights, channels last, of 1 to 3 spatial axes, as products:
// for each group one of the windows, which are packed block by block, and the filters
// (gemm/typed.h). The weights' bytes are [filter][tap][channel], with one more channel where their
// number is odd.
#pragma once

#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/common/typed_products.h"
#include "kernels_cpu/nn/byte_rows.h"

namespace intarsia::cpu {

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

  /// From now on the image is rows; where they lie is `image`.
  void use(const ByteRows& rows) {
    windows = rows.windows;
    tap_bytes = tap_step = static_cast<ptrdiff_t>(rows.bytes);
    product.k = rows.depth<S>();
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
