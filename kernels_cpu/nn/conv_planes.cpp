// SPDX-License-Identifier: Apache-2.0
//
// Convolution in float of planes, as ONNX has them (gemm/planes.h), of 1 to 3 spatial axes, with
// fused bias, residual and activation. The weights' bytes are columns of 12 filters. The residual Z
// may be the same memory as Y. For nodes that the converter leaves in ONNX's order
// (ops::gain_of_channels_last).
#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/planes.h"
#include "kernels_cpu/nn/conv_shape.h"
#include "kernels_cpu/nn/conv_weights.h"

namespace intarsia::cpu {
namespace {

struct PlaneConv {
  using Rule = ops::Conv;
  static constexpr KernelId id{"Conv", "planes", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant = "planes_bounded";
  static constexpr std::string_view packing = "columns of 12 filters";
  static constexpr KernelLayout layout = KernelLayout::kChannelsFirst;
  static constexpr InPlace in_place{3};

  static bool serves(const KernelContext& context) { return context.input(0).rank <= 5; }

  static Status check_shape(const KernelContext& context) {
    return check_fast_conv(context, 3, KernelLayout::kChannelsFirst);
  }

  static CheckedInt weight_bytes(const KernelContext& context) { return context.input(1).bytes(); }

  template <class E>
  static void pack_weights(const KernelContext& context, E* packed) {
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<ConvAttributes>().group;
    if (w.count() == 0) return;
    pack_planes(w.as<const E>(), groups, w.extents[0] / groups, w.count() / w.extents[0], packed);
  }

  static CheckedInt scratch_bytes(const KernelContext& context) {
    return plane_workspace_bytes(conv_shape(context));
  }

  static void convolve(const KernelContext& context, const Epilogue& epilogue, const float* weights,
                       std::span<std::byte> scratch) {
    const ConvArgs args{.shape = conv_shape(context),
                        .input = context.input(0).as<const float>(),
                        .weights = weights,
                        .output = context.output(0).as<float>(),
                        .bias = context.input(2).as<const float>(),
                        .residual = context.input(3).as<const float>(),
                        .epilogue = epilogue,
                        .isa = context.isa()};
    const PerThread<std::byte> memory(scratch, context.threads());
    context.parallel_for(plane_units(args.shape), [&](int64_t begin, int64_t end, int thread) {
      plane_run(args, begin, end, memory[thread]);
    });
  }
};

}  // namespace

extern const KernelList conv_planes_kernels;
constinit const KernelList conv_planes_kernels =
    kernel_list<WithHalves<Bounded<Packed<PlaneConv>>, AnyActivation<Packed<PlaneConv>>,
                           AnyActivation<PackedAtRun<Packed<PlaneConv>>>>>();

}  // namespace intarsia::cpu
