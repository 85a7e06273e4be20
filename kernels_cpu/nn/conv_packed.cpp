// SPDX-License-Identifier: Apache-2.0
//
// Fast convolution in float, channels-last, of 1 to 3 spatial axes, on the batch-reduce GEMM family
// (gemm/conv.h), with fused bias, residual and activation. The weights' bytes are panels of 16
// columns. The residual Z may be the same memory as Y.
#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/nn/conv_shape.h"
#include "kernels_cpu/nn/conv_weights.h"

namespace intarsia::cpu {
namespace {

struct FastConv {
  using Rule = ops::Conv;
  static constexpr KernelId id{"Conv", "packed", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr InPlace in_place{3};

  static bool serves(const KernelContext& context) { return context.input(0).rank <= 5; }

  static Status check_shape(const KernelContext& context) { return check_fast_conv(context, 3); }

  static CheckedInt weight_bytes(const KernelContext& context) {
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<ConvAttributes>().group;
    const int64_t filters = w.extents[0];
    const int64_t k = filters == 0 ? 0 : w.count() / filters;
    return panel_bytes(groups, k, filters / groups);
  }

  template <class E>
  static void pack_weights(const KernelContext& context, E* packed) {
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<ConvAttributes>().group;
    const int64_t filters = w.extents[0], channels = w.extents[1];
    if (w.count() == 0) return;
    pack_conv(w.as<const E>(), groups, filters / groups, channels, w.count() / (filters * channels),
              packed);
  }

  static CheckedInt scratch_bytes(const KernelContext& context) {
    return conv_workspace_bytes(shape_of(context));
  }

  static void convolve(const KernelContext& context, const Epilogue& epilogue, const float* weights,
                       std::span<std::byte> scratch) {
    ConvArgs args{.shape = shape_of(context),
                  .input = context.input(0).as<const float>(),
                  .weights = weights,
                  .output = context.output(0).as<float>(),
                  .bias = context.input(2).as<const float>(),
                  .residual = context.input(3).as<const float>(),
                  .residual_pitch = 0,
                  .epilogue = epilogue,
                  .isa = context.isa()};
    args.residual_pitch = args.shape.out_c;
    run_conv(context, args, scratch);
  }

 private:
  /// Columns of one pixel are left out, unless that would take more memory than plans have. Cold:
  /// once a run, so that size counts.
  [[gnu::noinline, gnu::cold]] static ConvShape shape_of(const KernelContext& context) {
    const ConvShape shape = conv_shape(context);
    if (!INTARSIA_HAS_VECTORS || shape.in_w != 1) return shape;
    const ConvShape other = without_single_columns(shape);
    return conv_workspace_bytes(other) <= conv_workspace_bytes(shape) ? other : shape;
  }
};

}  // namespace

extern const KernelList conv_packed_kernels;
constinit const KernelList conv_packed_kernels =
    kernel_list<WithHalves<Bounded<Packed<FastConv>>, AnyActivation<Packed<FastConv>>,
                           AnyActivation<PackedAtRun<Packed<FastConv>>>>>();

}  // namespace intarsia::cpu
