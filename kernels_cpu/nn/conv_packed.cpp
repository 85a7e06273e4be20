// SPDX-License-Identifier: Apache-2.0
//
// Fast convolution in float, channels-last, on the batch-reduce GEMM family (gemm/conv.h), with
// fused bias, residual and activation. The weights' bytes are panels of 16 columns. The residual Z
// may be the same memory as Y.
#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {
namespace {

struct ConvPacked {
  using Rule = ops::Conv;
  static constexpr KernelId id{"Conv", "packed", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr std::string_view packing = "panels of 16 columns";
  static constexpr InPlace in_place{3};

  static bool supports(const KernelContext& context) { return is_fast_conv(context); }

  static int64_t packed_bytes(const KernelContext& context, int input) {
    if (input != 1) return 0;
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<ConvAttributes>().group;
    const int64_t filters = w.extents[0];
    const int64_t k = filters == 0 ? 0 : w.count() / filters;
    return panel_bytes(groups, k, filters / groups).value();
  }

  static void pack(const KernelContext& context, int, void* packed) {
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<ConvAttributes>().group;
    const bool image = w.rank == 4;
    pack_conv(w.as<const float>(), groups, w.extents[0] / groups, w.extents[1],
              image ? w.extents[2] : 1, w.extents[w.rank - 1], static_cast<float*>(packed));
  }

  static int64_t workspace(const KernelContext& context) {
    return (conv_workspace_bytes(conv_shape(context)) * context.threads()).value();
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_fast_conv(context); !status) return status;
    if (Status s = check_capacity(context, 1, packed_bytes(context, 1)); !s) return s;
    return check_workspace(context, workspace(context));
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    ConvArgs args{.shape = conv_shape(context),
                  .input = context.input(0).as<const float>(),
                  .weights = context.input(1).as<const float>(),
                  .output = context.output(0).as<float>(),
                  .bias = context.input(2).as<const float>(),
                  .residual = context.input(3).as<const float>(),
                  .residual_pitch = 0,
                  .epilogue = epilogue,
                  .isa = context.isa()};
    args.residual_pitch = args.shape.out_c;
    const std::span<std::byte> workspace = context.workspace();
    const size_t per_thread = workspace.size() / static_cast<size_t>(context.threads()) / 64 * 64;
    context.parallel_for(conv_units(args.shape), [&](int64_t begin, int64_t end, int thread) {
      conv_run(args, begin, end, workspace.data() + static_cast<size_t>(thread) * per_thread);
    });
  }
};

}  // namespace

extern const KernelList conv_packed_kernels;
constinit const KernelList conv_packed_kernels =
    kernel_list<Bounded<ConvPacked>, AnyActivation<ConvPacked>>();

}  // namespace intarsia::cpu
