// SPDX-License-Identifier: Apache-2.0
//
// Fast Gemm in element types other than float32, of any two operands, computed or constant, with
// fused residual, and an activation of 16-bit types:
//
//     Y = activation(alpha * A' * B' + beta * C + Z)
//
// Integers wrap, and take whole alpha and beta only. Blocks of Y are shared out over the threads.
// The residual Z may be the same memory as Y.
// Specification: https://onnx.ai/onnx/operators/onnx__Gemm.html
#include "core/kernel_list.h"
#include "kernels_cpu/linear_algebra/product_typed.h"

namespace intarsia::cpu {
namespace {

/// Of planned extents, so that the workspace grows with the extents.
bool one_column(const KernelContext& context) {
  const bool trans_b = context.attributes<GemmAttributes>().trans_b != 0;
  return context.planned_extents(1)[trans_b ? 0 : 1] == 1;
}

template <class T>
struct GemmTyped {
  using Rule = ops::Gemm;
  static constexpr KernelId id{"Gemm", "fast", {kernel_type_of<T>}};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr InPlace in_place{3};

  static bool supports(const KernelContext& context) {
    return !std::is_integral_v<T> || whole_factors(context.attributes<GemmAttributes>());
  }

  static int64_t workspace(const KernelContext& context) {
    return products_workspace<ProductType<T>>(
        context, product_shape(gemm_layout(context), one_column(context)));
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<Rule, T>(context); !status) return status;
    if constexpr (std::is_integral_v<T>) {
      if (Status status = check_factors(context); !status) return status;
    }
    return check_workspace(context, workspace(context));
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    using S = ProductType<T>;
    if (context.output(0).count() == 0) return;
    const auto& attributes = context.attributes<GemmAttributes>();
    TypedArgs<S> args = typed_args<T>(context, gemm_layout(context), one_column(context));
    args.alpha = factor_of<Computed<S>>(attributes.alpha);
    args.beta = factor_of<Computed<S>>(attributes.beta);
    args.epilogue = epilogue;
    run_products<S>(context, args.shape, 1, [&](int64_t) { return args; });
  }
};

}  // namespace

extern const KernelList gemm_typed_kernels;
constinit const KernelList gemm_typed_kernels = kernel_list<ProductKernels<GemmTyped>>();

}  // namespace intarsia::cpu
