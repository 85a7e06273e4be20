// SPDX-License-Identifier: Apache-2.0
//
// Fast depthwise convolution in float, channels-last: one input channel for each output channel
// (gemm/depthwise.h), with fused bias, residual and activation, of 1 to 3 spatial axes. The
// weights' bytes are [KD][KH][KW][channels]. The kernel of any window serves several output
// channels of an input channel, too. One kernel for each window, so that a program links the
// micro-kernels of its layers alone.
#include <array>
#include <cstdint>

#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/depthwise.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {
namespace {

bool is_depthwise(const KernelContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  const TensorView& x = context.input(0);
  const TensorView& w = context.input(1);
  return attributes.group > 1 && attributes.group == x.extents[x.rank - 1] && w.extents[1] == 1;
}

/// Output channels of an input channel.
int64_t multiplier(const KernelContext& context) {
  return context.input(1).extents[0] / context.attributes<ConvAttributes>().group;
}

// What the kernels of all windows share; `cols` and `stride` are those of a DepthwiseWindow.

[[gnu::noinline]] bool serves_window(const KernelContext& context, int cols, int stride) {
  if (context.input(0).rank > 2 + kDepthwiseAxes || !is_depthwise(context)) return false;
  const ConvShape shape = conv_shape(context);
  return cols == 0 || (shape.kernel_w == cols && shape.stride_w == stride * shape.dilation_w &&
                       multiplier(context) == 1);
}

[[gnu::noinline]] Status check_depthwise(const KernelContext& context, int cols, int stride) {
  if (Status status = check_fast_conv(context, kDepthwiseAxes); !status) return status;
  if (!is_depthwise(context)) {
    return context.fail(Code::kInvalidValue, "group",
                        context.input(0).extents[context.input(0).rank - 1],
                        context.attributes<ConvAttributes>().group);
  }
  const ConvShape shape = conv_shape(context);
  if (cols != 0 && multiplier(context) != 1) {
    return context.fail(Code::kInvalidValue, "output channels of an input channel", 1,
                        multiplier(context));
  }
  if (cols != 0 && shape.kernel_w != cols) {
    return context.fail(Code::kInvalidValue, "kernel columns", cols, shape.kernel_w);
  }
  if (cols != 0 && shape.stride_w != stride * shape.dilation_w) {
    return context.fail(Code::kInvalidValue, "stride", stride * shape.dilation_w, shape.stride_w);
  }
  // The micro-kernel counts floats of a row with its padding in ptrdiff_t.
  const int64_t reach =
      (shape.out_w - 1) * shape.stride_w + (shape.kernel_w - 1) * shape.dilation_w;
  const int64_t columns = shape.pad_left > reach ? shape.pad_left : reach;
  const int64_t most = PTRDIFF_MAX / 16 / (shape.in_c > 0 ? shape.in_c : 1);
  if (columns > most) {
    return context.fail(Code::kUnsupported, "columns with their padding", most, columns, 0);
  }
  return check_capacity(context, 1, context.input(1).bytes());
}

void compute_depthwise(const KernelContext& context, const Epilogue& epilogue,
                       DepthwiseFunction kernel) {
  const DepthwiseArgs args{.shape = conv_shape(context),
                           .input = context.input(0).as<const float>(),
                           .weights = context.input(1).as<const float>(),
                           .output = context.output(0).as<float>(),
                           .bias = context.input(2).as<const float>(),
                           .residual = context.input(3).as<const float>(),
                           .epilogue = epilogue,
                           .kernel = kernel};
  context.parallel_for(depthwise_units(args.shape),
                       [&](int64_t begin, int64_t end, int) { depthwise_run(args, begin, end); });
}

struct PackedWeights {
  static constexpr std::string_view packing = "channels last";

  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? context.input(1).bytes() : 0;
  }

  static void pack(const KernelContext& context, int input, void* packed) {
    pack_weights(context, input, static_cast<float*>(packed));
  }
  template <class E>
  static void pack_weights(const KernelContext& context, int, E* packed) {
    const TensorView& w = context.input(1);
    if (w.count() == 0) return;
    pack_depthwise(w.as<const E>(), w.extents[0], w.count() / w.extents[0], packed);
  }
};

/// "depthwise_3x1_bounded"; "depthwise_bounded" where any window is served. Without its last word
/// it is the variant of the kernel with any activation.
template <int Cols, int Stride>
constexpr auto kVariant = [] {
  std::array<char, 21> text{};
  std::string_view("depthwise_0x0_bounded").copy(text.data(), text.size());
  text[10] += Cols;
  text[12] += Stride;
  return text;
}();
template <>
constexpr std::string_view kVariant<0, 0> = "depthwise_bounded";

template <int Cols, int Stride>
struct ConvDepthwise : PackedWeights {
  using Rule = ops::Conv;
  static constexpr std::string_view kBoundedVariant{kVariant<Cols, Stride>.data(),
                                                    kVariant<Cols, Stride>.size()};
  static constexpr KernelId id{
      "Conv",
      kBoundedVariant.substr(0, kBoundedVariant.size() - std::string_view("_bounded").size()),
      {DataType::kFloat}};
  /// Less than ConvPacked; a window of its own before the one that serves what is left.
  static constexpr int cost = kFastCost - (Cols == 0 ? 2 : 4);
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;

  static bool serves(const KernelContext& context) { return serves_window(context, Cols, Stride); }
  static bool supports(const KernelContext& context) {
    return is_fast_conv(context, kDepthwiseAxes) && serves(context);
  }

  static Status check(const KernelContext& context) {
    return check_depthwise(context, Cols, Stride);
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    using Window = DepthwiseWindow<Cols, Stride>;
    compute_depthwise(context, epilogue, depthwise_kernel<Window>(context.isa()));
  }
};

template <class K>
struct ComputedWeights : AnyActivation<PackedAtRun<K>> {};

using Windows = Types<ConvDepthwise<3, 1>, ConvDepthwise<3, 2>, ConvDepthwise<5, 1>,
                      ConvDepthwise<5, 2>, ConvDepthwise<7, 1>, ConvDepthwise<0, 0>>;
/// Beside the conversion of halves a loop of one window gains little.
using AnyWindow = ConvDepthwise<0, 0>;

}  // namespace

extern const KernelList conv_depthwise_kernels;
constinit const KernelList conv_depthwise_kernels = kernel_list<
    Each<Bounded, Windows>, Each<AnyActivation, Windows>, Each<ComputedWeights, Windows>,
    OfHalves<Bounded<AnyWindow>, AnyActivation<AnyWindow>, ComputedWeights<AnyWindow>>>();

}  // namespace intarsia::cpu
