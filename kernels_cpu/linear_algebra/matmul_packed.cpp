// SPDX-License-Identifier: Apache-2.0
//
// MatMul in float by a constant matrix, which the converter packs in panels of 16 columns
// (gemm/pack.h), with fused bias, residual and activation. All leading axes of A are rows. The
// matrix keeps its ONNX extents in the plan. The residual may be the same memory as Y.
#include "core/kernel_list.h"
#include "core/operators/linear_algebra/matmul.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/linear_algebra/product_args.h"

namespace intarsia::cpu {
namespace {

struct MatMulPacked {
  using Rule = ops::MatMul;
  static constexpr KernelId id{"MatMul", "packed", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static constexpr std::string_view packing = "panels of 16 columns";
  static constexpr InPlace in_place{3};

  static bool supports(const KernelContext& context) {
    const TensorView& b = context.input(1);
    return b.data != nullptr && b.rank == 2 && b.count() > 0;
  }

  static int64_t packed_bytes(const KernelContext& context, int input) {
    const TensorView& b = context.input(1);
    return input == 1 ? panel_bytes(1, b.extents[0], b.extents[1]).value() : 0;
  }

  static void pack(const KernelContext& context, int, void* packed) {
    const TensorView& b = context.input(1);
    pack_b(b.as<const float>(), b.extents[1], b.extents[0], b.extents[1],
           static_cast<float*>(packed));
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<Rule, float>(context); !status) return status;
    const int rank = context.input(1).rank;
    if (rank != 2) {
      return context.fail(Code::kWrongRank, "rank of the packed factor", 2, rank, 1);
    }
    return check_capacity(context, 1, packed_bytes(context, 1));
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    const TensorView& b = context.input(1);
    const TensorView& y = context.output(0);
    const int64_t k = b.extents[0], n = b.extents[1];
    run_product(context, product_args(context, {n == 0 ? 0 : y.count() / n, n, k}, epilogue));
  }
};

}  // namespace

extern const KernelList matmul_packed_kernels;
constinit const KernelList matmul_packed_kernels =
    kernel_list<Bounded<MatMulPacked>, AnyActivation<MatMulPacked>>();

}  // namespace intarsia::cpu
