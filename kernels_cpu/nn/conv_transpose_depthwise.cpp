// SPDX-License-Identifier: Apache-2.0
//
// Fast depthwise transposed convolution in float, channels-last, of 1 to 3 spatial axes: a
// depthwise convolution for each phase of its outputs (gemm/conv_transpose.h). The weights' bytes
// are [taps][output channels], phase by phase.
#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/conv_transpose.h"
#include "kernels_cpu/gemm/depthwise.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {
namespace {

bool is_depthwise(const KernelContext& context) {
  const int32_t group = context.attributes<ConvTransposeAttributes>().group;
  return group > 1 && group == context.input(1).extents[0] &&
         context.input(0).rank <= 2 + kDepthwiseAxes;
}

struct DepthwiseConvTranspose {
  static constexpr KernelId id{"ConvTranspose", "depthwise", {DataType::kFloat}};
  /// Less than that of the products of whole groups.
  static constexpr int cost = kFastCost - 2;
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr std::string_view packing = "phases of taps";

  static bool serves(const KernelContext& context) { return is_depthwise(context); }
  static bool supports(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return w.data != nullptr && w.count() > 0 && serves(context);
  }

  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? context.input(1).bytes() : 0;
  }

  static void pack(const KernelContext& context, int input, void* packed) {
    pack_weights(context, input, static_cast<float*>(packed));
  }
  template <class E>
  static void pack_weights(const KernelContext& context, int, E* packed) {
    pack_transposed_depthwise(transposed_shape(context), context.input(1).as<const E>(), packed);
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_fast_transposed(context, kDepthwiseAxes); !status) return status;
    const TensorView &x = context.input(0), &w = context.input(1);
    if (!is_depthwise(context)) {
      return context.fail(Code::kInvalidValue, "group", x.extents[x.rank - 1],
                          context.attributes<ConvTransposeAttributes>().group);
    }
    // The micro-kernel counts floats of a row with its padding in ptrdiff_t.
    const ConvShape s = transposed_shape(context);
    const int64_t pad = s.pad_left < 0 ? -s.pad_left : s.pad_left;
    const int64_t columns = s.out_w + pad + (s.kernel_w - 1) * s.dilation_w;
    const int64_t most = PTRDIFF_MAX / 16 / (s.in_c > 0 ? s.in_c : 1);
    if (columns > most) {
      return context.fail(Code::kUnsupported, "columns with their padding", most, columns, 0);
    }
    return check_capacity(context, 1, w.bytes());
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const DepthwiseFunction kernel = depthwise_kernel<DepthwiseWindow<0, 0>>(context.isa());
    for_phases(
        transposed_shape(context),
        [](const TransposedPhase& phase) { return depthwise_units(phase.shape); },
        [&](const TransposedPhase& phase, int64_t begin, int64_t end, int) {
          DepthwiseArgs args{.shape = forwards(phase.shape),
                             .input = context.input(0).as<const float>(),
                             .weights = context.input(1).as<const float>(),
                             .output = context.output(0).as<float>() + phase.output,
                             .bias = context.input(2).as<const float>(),
                             .kernel = kernel};
          args.weights += phase.taps_before * args.shape.out_c;
          depthwise_run(args, begin, end);
        },
        [&](int64_t units, const auto& body) { context.parallel_for(units, body); });
    return {};
  }
};

}  // namespace

extern const KernelList conv_transpose_depthwise_kernels;
constinit const KernelList conv_transpose_depthwise_kernels =
    kernel_list<WithHalves<DepthwiseConvTranspose, PackedAtRun<DepthwiseConvTranspose>>>();

}  // namespace intarsia::cpu
