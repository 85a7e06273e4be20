// SPDX-License-Identifier: Apache-2.0
//
// MatMul in float of two computed matrices, or stacks of them, with fused bias, residual and
// activation: each second factor is packed when it is met (gemm/pack.h), and kept as long as
// following matrices share it; neighbours that share it are one product. Products with few rows, or
// with a single column, leave it as it is (thin_product.h, few_sums.h). Threads share out the
// matrices of a stack, or each matrix where that would leave threads idle; an element's bits do not
// depend on it. The residual may be the same memory as Y.
#include "core/kernel_list.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/linear_algebra/few_sums.h"
#include "kernels_cpu/linear_algebra/operands.h"
#include "kernels_cpu/linear_algebra/product_args.h"
#include "kernels_cpu/linear_algebra/thin_product.h"

namespace intarsia::cpu {
namespace {

GemmShape matrix_shape(const KernelContext& context) {
  const ProductLayout layout = matmul_layout(context);
  return {layout.rows, layout.columns, layout.inner};
}

struct MatMulComputed {
  using Rule = ops::MatMul;
  static constexpr KernelId id{"MatMul", "computed", {DataType::kFloat}};
  static constexpr int cost = 2 * kFastCost;
  static constexpr InPlace in_place{3};

  static int64_t workspace(const KernelContext& context) {
    const GemmShape shape = matrix_shape(context);
    return (panel_bytes(1, shape.k, shape.n) * context.threads()).value();
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<Rule, float>(context); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    const TensorView& y = context.output(0);
    if (y.count() == 0) return;
    GemmShape shape = matrix_shape(context);
    const int64_t joined = joined_matrices(context);
    shape.m *= joined;
    const GemmArgs all = product_args(context, shape, epilogue);
    const int64_t matrices = y.count() / (shape.m * shape.n);
    auto* memory = reinterpret_cast<float*>(context.workspace().data());
    const bool column =
        shape.n == 1 && all.bias == nullptr && (is_column(shape) || !is_narrow(shape));
    const FewSteps a_steps{shape.k, 1}, b_steps{1, shape.n};
    const bool few = !column && is_few(shape, a_steps, b_steps);
    const bool thin = column || few || shape.m <= kThinRows;
    const int64_t units =
        few ? few_units(shape) : thin_units(column ? GemmShape{1, shape.m, shape.k} : shape);
    const auto run_thin = [&](const GemmArgs& args, int64_t begin, int64_t end) {
      if (few) return few_run(args, a_steps, b_steps, 1, begin, end);
      thin_run(column ? turned(args) : args, column, 1, begin, end);
    };
    if (shares_evenly(matrices, context.threads())) {
      context.parallel_for(matrices, [&](int64_t begin, int64_t end, int thread) {
        const auto pack = [&](const float* b, float* packed) {
          if (!thin) pack_b(b, shape.n, shape.k, shape.n, packed);
        };
        const auto run = [&](const GemmArgs& args) {
          thin ? run_thin(args, 0, units) : run_whole(args);
        };
        float* own = memory + thread * packed_floats(1, shape.k, shape.n);
        multiply(context, all, joined, begin, end, thin ? nullptr : own, pack, run);
      });
      return;
    }
    const auto pack = [&](const float* b, float* packed) {
      if (!thin) pack_factor(context, b, false, shape, 1, packed);
    };
    const auto run = [&](const GemmArgs& args) {
      if (!thin) return run_product(context, args);
      context.parallel_for(units,
                           [&](int64_t begin, int64_t end, int) { run_thin(args, begin, end); });
    };
    multiply(context, all, joined, 0, matrices, thin ? nullptr : memory, pack, run);
  }

 private:
  /// Whole matrices are shared out, without further exchange, unless that leaves threads idle.
  static bool shares_evenly(int64_t matrices, int64_t threads) {
    const int64_t rounds = (matrices + threads - 1) / threads, idle = rounds * threads - matrices;
    return idle * 6 <= matrices;
  }

  /// Products [begin, end), each of `joined` matrices of Y: pack(b, packed) where the second factor
  /// is a new one, run(args). Without memory for it, the factor stays as it is.
  template <class Pack, class Run>
  static void multiply(const KernelContext& context, const GemmArgs& all, int64_t joined,
                       int64_t begin, int64_t end, float* packed, const Pack& pack,
                       const Run& run) {
    const GemmShape& shape = all.shape;
    const int32_t* batch = context.output(0).extents;
    const int batch_rank = matmul_batch_rank(context);
    const float* held = nullptr;  // what `packed` holds
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * joined;
      const float* b = all.b + batch_offset(context.input(1), batch, batch_rank, first);
      if (b != held) pack(b, packed);
      held = b;
      GemmArgs args = all;
      args.a += batch_offset(context.input(0), batch, batch_rank, first);
      args.b = packed != nullptr ? packed : b;
      args.c += i * shape.m * shape.n;
      if (args.residual != nullptr) args.residual += i * shape.m * shape.n;
      run(args);
    }
  }
};

}  // namespace

extern const KernelList matmul_computed_kernels;
constinit const KernelList matmul_computed_kernels = kernel_list<AnyActivation<MatMulComputed>>();

}  // namespace intarsia::cpu
