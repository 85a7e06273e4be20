// SPDX-License-Identifier: Apache-2.0
//
// Convolution in float by windows of 3 x 3, channels-last, with a quarter of the multiplications
// (gemm/winograd.h), fused bias, residual and activation. The weights' bytes are the transformed
// filters, four times as long as the filters; `--plan-growth` limits that. Images with few tiles
// would read more weights than they save multiplications. The residual Z may be the same memory as
// Y.
#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/gemm/winograd.h"
#include "kernels_cpu/nn/conv_shape.h"
#include "kernels_cpu/nn/conv_weights.h"

namespace intarsia::cpu {
namespace {

// Below, transforms cost more than they save.
constexpr int64_t kLeastChannels = 16;
constexpr int64_t kLeastTiles = 12;

template <int kTile>
struct WinogradConv {
  using Rule = ops::Conv;
  static constexpr bool kLarge = kTile == 4;
  static constexpr KernelId id{
      "Conv", kLarge ? "winograd_4x4" : "winograd_2x2", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant =
      kLarge ? "winograd_4x4_bounded" : "winograd_2x2_bounded";
  /// Less than that of any window; large tiles save more.
  static constexpr int cost = kFastCost - (kLarge ? 4 : 2);
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr InPlace in_place{3};

  static bool serves(const KernelContext& context) {
    if (context.input(0).rank > 5) return false;
    const ConvShape shape = conv_shape(context);
    return is_winograd(shape) && shape.in_c >= kLeastChannels && shape.out_c >= kLeastChannels &&
           winograd_tiles(kTile, shape) >= kLeastTiles;
  }

  static Status check_shape(const KernelContext& context) {
    if (Status status = check_fast_conv(context, 3); !status) return status;
    if (is_winograd(conv_shape(context))) return {};
    return context.fail(Code::kUnsupported, "window; only 3 x 3 with steps of 1 in one group", 3,
                        context.input(1).extents[context.input(1).rank - 1], 1);
  }

  static CheckedInt weight_bytes(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return winograd_bytes(kTile, depth(w), w.extents[1], w.extents[0]);
  }

  static void pack_weights(const KernelContext& context, float* packed) {
    const TensorView& w = context.input(1);
    pack_winograd(kTile, w.as<const float>(), w.extents[0], w.extents[1], depth(w), packed);
  }

  static CheckedInt scratch_bytes(const KernelContext& context) {
    return winograd_workspace_bytes(kTile, conv_shape(context));
  }

  static void convolve(const KernelContext& context, const Epilogue& epilogue, const float* weights,
                       std::span<std::byte> scratch) {
    const ConvShape shape = conv_shape(context);
    const ConvArgs args{.shape = shape,
                        .input = context.input(0).as<const float>(),
                        .weights = weights,
                        .output = context.output(0).as<float>(),
                        .bias = context.input(2).as<const float>(),
                        .residual = context.input(3).as<const float>(),
                        .residual_pitch = shape.out_c,
                        .epilogue = epilogue,
                        .isa = context.isa()};
    const PerThread<std::byte> memory(scratch, context.threads());
    context.parallel_for(winograd_units(kTile, shape), [&](int64_t begin, int64_t end, int thread) {
      winograd_run(kTile, args, begin, end, memory[thread]);
    });
  }

 private:
  static int64_t depth(const TensorView& w) { return w.rank == 5 ? w.extents[2] : 1; }
};

}  // namespace

extern const KernelList conv_winograd_kernels;
constinit const KernelList conv_winograd_kernels =
    kernel_list<Bounded<Packed<WinogradConv<4>>>, AnyActivation<Packed<WinogradConv<4>>>,
                Bounded<Packed<WinogradConv<2>>>, AnyActivation<Packed<WinogradConv<2>>>>();

}  // namespace intarsia::cpu
