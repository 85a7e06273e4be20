// SPDX-License-Identifier: Apache-2.0
//
// Fast ConvInteger with constant weights, channels last, of 1 to 3 spatial axes: for each group a
// product of the windows, which are packed block by block, and the filters (gemm/typed.h). The
// weights' bytes are [filter][tap][channel], with one more channel where their number is odd.
#include "core/kernel_list.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/common/typed_products.h"
#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {
namespace {

/// Groups of a tap.
template <class S>
CheckedInt tap_groups(const TensorView& w) {
  return floor_div(CheckedInt(w.extents[1]) + kGroup<S> - 1, kGroup<S>);
}
/// Bytes from tap to tap of the packed weights.
CheckedInt tap_pitch(const TensorView& w) {
  return tap_groups<Int16Pair>(w) * kGroup<Int16Pair>;
}

CheckedInt taps_of(const TensorView& w) {
  CheckedInt taps = 1;
  for (int axis = 2; axis < w.rank; ++axis) taps *= w.extents[axis];
  return taps;
}

CheckedInt filter_bytes(const TensorView& w) {
  return taps_of(w) * tap_pitch(w);
}

ConvShape shape_of(const KernelContext& context) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  return conv_shape(context, a.window, a.group);
}

/// The product of one group of channels.
template <class S>
GemmShape product_of(const KernelContext& context, const ConvShape& s) {
  const CheckedInt pixels = CheckedInt(s.batch) * s.out_d * s.out_h * s.out_w;
  const TensorView& w = context.input(1);
  return {pixels.value(), s.out_c / s.groups, (taps_of(w) * tap_groups<S>(w)).value()};
}

int64_t workspace_bytes(const KernelContext& context) {
  const ConvShape s = shape_of(context);
  return byte_products_workspace(context, [&]<class S>(S) { return product_of<S>(context, s); });
}

void pack_filters(const TensorView& w, uint8_t* to) {
  const int64_t channels = w.extents[1], taps = taps_of(w).value();
  const int64_t pitch = tap_pitch(w).value();
  const auto* from = w.as<const uint8_t>();
  for (int64_t filter = 0; filter < w.extents[0]; ++filter, from += channels * taps) {
    for (int64_t tap = 0; tap < taps; ++tap, to += pitch) {
      for (int64_t c = 0; c < channels; ++c) to[c] = from[c * taps + tap];
      if (pitch > channels) to[channels] = 0;  // never read
    }
  }
}

/// Whether each window is one pixel, and each pixel a window.
bool is_pointwise(const ConvShape& s) {
  return s.kernel_d * s.kernel_h * s.kernel_w == 1 && s.stride_d * s.stride_h * s.stride_w == 1 &&
         s.pad_front == 0 && s.pad_top == 0 && s.pad_left == 0 && s.out_d == s.in_d &&
         s.out_h == s.in_h && s.out_w == s.in_w;
}

template <class S>
void convolve(const KernelContext& context) {
  const ConvShape s = shape_of(context);
  const GemmShape shape = product_of<S>(context, s);
  const ByteOperand x(context, 0), w(context, 1);
  const TensorView& weights = context.input(1);
  const auto row = static_cast<ptrdiff_t>(filter_bytes(weights).value());
  const auto pitch = static_cast<ptrdiff_t>(tap_pitch(weights).value());
  const ptrdiff_t channels = weights.extents[1];
  const bool pointwise = is_pointwise(s);
  run_products<S>(context, shape, s.groups, [&](int64_t group) {
    TypedArgs<S> args{};
    args.shape = shape;
    args.a = {x.data + group * channels, 0, 1, channels, x.flip, x.zeros, 0};
    if (pointwise) {
      args.a.lane_step = static_cast<ptrdiff_t>(s.in_pitch);  // rows of a matrix
    } else {
      args.a.windows = &s;
    }
    args.b = {w.data + group * shape.n * row,
              row,
              1,
              channels,
              w.flip,
              w.zeros + group * shape.n * w.zero_step,
              static_cast<ptrdiff_t>(w.zero_step),
              pitch};
    args.c = context.output(0).as<uint32_t>() + group * shape.n;
    args.pitch = static_cast<ptrdiff_t>(s.out_c);
    args.isa = context.isa();
    return args;
  });
}

template <class X, class W>
struct ConvIntegerPacked {
  static constexpr KernelId id{"ConvInteger", "packed", {kernel_type_of<X>, kernel_type_of<W>}};
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
    pack_filters(context.input(1), static_cast<uint8_t*>(packed));
  }
  static int64_t workspace(const KernelContext& context) { return workspace_bytes(context); }

  static Status check(const KernelContext& context) {
    if (Status status = check_fast_conv_integer<X, W>(context); !status) return status;
    if (Status s = check_capacity(context, 1, packed_bytes(context, 1)); !s) return s;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    pick_groups(context.isa(), [&]<class S>(S) { convolve<S>(context); });
    return {};
  }
};

template <class X, class W>
using ConvIntegerComputed = PackedAtRun<ConvIntegerPacked<X, W>>;

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_packed_kernels;
constinit const KernelList conv_integer_packed_kernels =
    kernel_list<EachPair<ConvIntegerPacked, Bytes, Bytes>,
                EachPair<ConvIntegerComputed, Bytes, Bytes>>();

}  // namespace intarsia::cpu
