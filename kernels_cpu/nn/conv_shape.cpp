// SPDX-License-Identifier: Apache-2.0
//
// See conv_shape.h.
#include "kernels_cpu/nn/conv_shape.h"

#include "intarsia/per_thread.h"
#include "kernels_cpu/common/epilogue.h"

namespace intarsia::cpu {

namespace {

/// The windows of both operators; `pad_before(axis, in, out, kernel)` is what is in front.
template <class PadBefore>
ConvShape window_shape(const KernelContext& context, const PadBefore& pad_before,
                       const WindowAttributes& window, bool channels_last = true) {
  const TensorView& x = context.input(0);
  const TensorView& w = context.input(1);
  const TensorView& y = context.output(0);
  ConvShape s;
  struct Axis {
    int64_t &in, &out, &kernel, &stride, &dilation, &pad;
  };
  const Axis axes[] = {
      {s.in_w, s.out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left},
      {s.in_h, s.out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top},
      {s.in_d, s.out_d, s.kernel_d, s.stride_d, s.dilation_d, s.pad_front},
  };
  const ImageAxes image{x.rank, channels_last};
  const int spatial = image.spatial();
  for (int i = 0; i < spatial; ++i) {
    const Axis& axis = axes[spatial - 1 - i];  // columns are the last one
    axis.in = x.extents[image.axis(i)];
    axis.out = y.extents[image.axis(i)];
    axis.kernel = w.extents[2 + i];
    axis.stride = window.stride(i);
    axis.dilation = window.dilation(i);
    axis.pad = pad_before(i, axis.in, axis.out, axis.kernel);
  }
  s.batch = x.extents[0];
  return s;
}

/// As the weights have them: where the output's extents vary, it has at most so many channels, and
/// weights are packed before it is known how many.
void set_channels(ConvShape& s, int64_t groups, int64_t in, int64_t out, bool no_weights) {
  s.groups = groups;
  s.in_c = s.in_pitch = in;
  s.out_c = s.out_pitch = out;
  if (no_weights) {
    // Perhaps with any number of taps. The same sums, none: a tap without channels.
    s.in_c = 0;
    s.kernel_d = s.kernel_h = s.kernel_w = 1;
  }
}

}  // namespace

Status check_image(const KernelContext& context, int32_t channels_last, int spatial,
                   int32_t expected) {
  if ((channels_last != 0) != (expected != 0)) {
    return context.fail(Code::kInvalidValue, "channels_last", expected, channels_last);
  }
  const int rank = context.input(0).rank;
  if (rank > 2 + spatial) return context.fail(Code::kWrongRank, "input rank", 2 + spatial, rank, 0);
  return {};
}

ConvShape conv_shape(const KernelContext& context, const WindowAttributes& window, int64_t groups,
                     bool channels_last) {
  const auto pad_before = [&](int axis, int64_t in, int64_t out, int64_t kernel) {
    return window.pad_before(axis, in, out, kernel);
  };
  ConvShape shape = window_shape(context, pad_before, window, channels_last);
  const TensorView& w = context.input(1);
  set_channels(shape, groups, groups * w.extents[1], w.extents[0], w.count() == 0);
  return shape;
}

ConvShape conv_shape(const KernelContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  return conv_shape(context, attributes.window, attributes.group, attributes.channels_last != 0);
}

ConvShape transposed_shape(const KernelContext& context) {
  const auto& attributes = context.attributes<ConvTransposeAttributes>();
  const auto pad_before = [&](int axis, int64_t in, int64_t out, int64_t kernel) {
    return attributes.pad_before(axis, in, out, kernel);
  };
  ConvShape shape =
      window_shape(context, pad_before, attributes.window, attributes.channels_last != 0);
  const TensorView& w = context.input(1);
  const int64_t groups = attributes.group;
  set_channels(shape, groups, w.extents[0], groups * w.extents[1], w.count() == 0);
  return shape;
}

ConvShape without_single_columns(ConvShape s) {
  using Field = int64_t ConvShape::*;
  static constexpr Field kAxes[][3] = {
      {&ConvShape::in_d, &ConvShape::in_h, &ConvShape::in_w},
      {&ConvShape::out_d, &ConvShape::out_h, &ConvShape::out_w},
      {&ConvShape::kernel_d, &ConvShape::kernel_h, &ConvShape::kernel_w},
      {&ConvShape::stride_d, &ConvShape::stride_h, &ConvShape::stride_w},
      {&ConvShape::dilation_d, &ConvShape::dilation_h, &ConvShape::dilation_w},
      {&ConvShape::pad_front, &ConvShape::pad_top, &ConvShape::pad_left}};
  for (int i = 0; i < 2; ++i) {
    if (s.in_w != 1 || s.out_w != 1 || s.kernel_w != 1 || s.pad_left != 0) break;
    for (const auto& [d, h, w] : kAxes) {
      s.*w = s.*h;
      s.*h = s.*d;
      s.*d = d == &ConvShape::pad_front ? 0 : 1;
    }
  }
  return s;
}

bool is_fast_conv(const KernelContext& context, int spatial) {
  const TensorView& w = context.input(1);
  return context.input(0).rank <= 2 + spatial && w.data != nullptr && w.count() > 0;
}

Status check_fast_conv(const KernelContext& context, int spatial, KernelLayout layout) {
  if (Status status = check_with_epilogue<ops::Conv, float>(context); !status) return status;
  return check_image(context, context.attributes<ConvAttributes>().channels_last, spatial,
                     layout == KernelLayout::kChannelsLast ? 1 : 0);
}

Status check_transposed_operands(const KernelContext& context) {
  return check_operands<ops::ConvTranspose>(
      context, {.inputs = {DataType::kFloat, DataType::kFloat, DataType::kFloat},
                .required_inputs = 2,
                .outputs = {DataType::kFloat}});
}

Status check_fast_transposed(const KernelContext& context, int spatial) {
  if (Status status = check_transposed_operands(context); !status) return status;
  return check_image(context, context.attributes<ConvTransposeAttributes>().channels_last, spatial);
}

void run_conv(const KernelContext& context, const ConvArgs& args, std::span<std::byte> scratch) {
  const PerThread<std::byte> memory(scratch, context.threads());
  context.parallel_for(conv_units(args.shape), [&](int64_t begin, int64_t end, int thread) {
    conv_run(args, begin, end, memory[thread]);
  });
}

}  // namespace intarsia::cpu
