// SPDX-License-Identifier: Apache-2.0
//
// Fast transposed convolution in float, channels-last, of 1 to 3 spatial axes: a convolution for
// each phase of its outputs (gemm/conv_transpose.h). The weights' bytes are panels of 16 columns,
// phase by phase.
#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/conv_transpose.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/nn/conv_shape.h"
#include "kernels_cpu/nn/conv_weights.h"

namespace intarsia::cpu {
namespace {

struct FastConvTranspose {
  static constexpr KernelId id{"ConvTranspose", "packed", {DataType::kFloat}};
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;

  /// A panel takes 16 columns: with few of them the reference is no slower.
  static bool serves(const KernelContext& context) { return context.input(0).rank <= 5; }

  static Status check_shape(const KernelContext& context) {
    return check_fast_transposed(context, 3);
  }

  static CheckedInt weight_bytes(const KernelContext& context) {
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<ConvTransposeAttributes>().group;
    const int64_t filters = w.extents[1];
    const int64_t k = filters == 0 ? 0 : w.count() / filters / groups;
    return panel_bytes(groups, k, filters);
  }

  template <class E>
  static void pack_weights(const KernelContext& context, E* packed) {
    if (context.input(1).count() == 0) return;
    pack_transposed(transposed_shape(context), context.input(1).as<const E>(), packed);
  }

  static CheckedInt scratch_bytes(const KernelContext& context) {
    return transposed_workspace_bytes(transposed_shape(context));
  }

  static void convolve(const KernelContext& context, const Epilogue& epilogue, const float* weights,
                       std::span<std::byte> scratch) {
    if (context.output(0).count() == 0) return;
    const ConvShape shape = transposed_shape(context);
    const int64_t tap =
        packed_floats(shape.groups, shape.in_c / shape.groups, shape.out_c / shape.groups);
    const PerThread<std::byte> memory(scratch, context.threads());
    for_phases(
        shape, [](const TransposedPhase& phase) { return conv_units(phase.shape); },
        [&](const TransposedPhase& phase, int64_t begin, int64_t end, int thread) {
          const ConvArgs args{.shape = phase.shape,
                              .input = context.input(0).as<const float>(),
                              .weights = weights + phase.taps_before * tap,
                              .output = context.output(0).as<float>() + phase.output,
                              .bias = context.input(2).as<const float>(),
                              .epilogue = epilogue,
                              .isa = context.isa()};
          conv_run(args, begin, end, memory[thread]);
        },
        [&](int64_t units, const auto& body) { context.parallel_for(units, body); });
  }
};

}  // namespace

extern const KernelList conv_transpose_packed_kernels;
constinit const KernelList conv_transpose_packed_kernels = kernel_list<
    WithHalves<Plain<Packed<FastConvTranspose>>, Plain<PackedAtRun<Packed<FastConvTranspose>>>>>();

}  // namespace intarsia::cpu
