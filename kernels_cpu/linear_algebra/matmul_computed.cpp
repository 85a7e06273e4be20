// SPDX-License-Identifier: Apache-2.0
//
// MatMul in float of two computed matrices, or stacks of them, with fused bias, residual and
// activation: each second factor is packed when it is met (gemm/pack.h), and kept as long as
// following matrices share it; neighbours that share it are one product. Products with few rows, or
// with a single column, leave it as it is (thin_product.h, few_sums.h). Threads share out the
// matrices of a stack, or each matrix where that would leave threads idle; an element's bits do not
// depend on it. The residual may be the same memory as Y.
//
// ScaledMatMul besides: a second factor that is transposed, or scaled, becomes so when it is
// packed; a first one that is transposed is turned round in the workspace.
#include "core/kernel_list.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/linear_algebra/few_sums.h"
#include "kernels_cpu/linear_algebra/operands.h"
#include "kernels_cpu/linear_algebra/product_args.h"
#include "kernels_cpu/linear_algebra/thin_product.h"

namespace intarsia::cpu {
namespace {

template <class R>
struct ProductComputed {
  using Rule = R;
  static constexpr KernelId id{kProductName<Rule>, "computed", {DataType::kFloat}};
  static constexpr int cost = 2 * kFastCost;
  static constexpr InPlace in_place{3};

  static int64_t workspace(const KernelContext& context) {
    const ProductForm form = product_form<Rule>(context);
    const GemmShape shape = matrix_shape(context, form);
    const CheckedInt first = form.trans_a ? CheckedInt(shape.m) * shape.k * sizeof(float) : 0;
    return ((panel_bytes(1, shape.k, shape.n) + first) * context.threads()).value();
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<Rule, float>(context); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    const TensorView& y = context.output(0);
    if (y.count() == 0) return;
    const ProductForm form = product_form<Rule>(context);
    GemmShape shape = matrix_shape(context, form);
    const int64_t joined = form.trans_a ? 1 : joined_matrices(context);
    shape.m *= joined;
    const GemmArgs all = product_args(context, shape, epilogue);
    const int64_t matrices = y.count() / (shape.m * shape.n);
    auto* memory = reinterpret_cast<float*>(context.workspace().data());
    const bool column = !form.trans_a && shape.n == 1 && all.bias == nullptr &&
                        (is_column(shape) || !is_narrow(shape));
    const FewSteps a_steps{form.trans_a ? 1 : shape.k, form.trans_a ? shape.m : 1};
    const FewSteps b_steps{form.trans_b ? shape.k : 1, form.trans_b ? 1 : shape.n};
    const bool few = !column && is_few(shape, a_steps, b_steps);
    const bool thin = column || few || (!form.trans_a && shape.m <= kThinRows);
    const int64_t units =
        few ? few_units(shape) : thin_units(column ? GemmShape{1, shape.m, shape.k} : shape);
    const auto run_thin = [&](const GemmArgs& args, int64_t begin, int64_t end) {
      if (few) return few_run(args, a_steps, b_steps, form.alpha, begin, end);
      thin_run(column ? turned(args) : args, column || form.trans_b, form.alpha, begin, end);
    };
    const int64_t panels = packed_floats(1, shape.k, shape.n);
    if (shares_evenly(matrices, context.threads())) {
      const int64_t each = panels + (form.trans_a ? shape.m * shape.k : 0);
      const PerThread<float> pieces(context.workspace(), context.threads(), each);
      context.parallel_for(matrices, [&](int64_t begin, int64_t end, int thread) {
        float* own = pieces[thread];
        const auto pack = [&](const float* b, float* packed) {
          if (!thin) pack_columns(b, form.trans_b, shape, form.alpha, 0, shape.n, packed);
        };
        const auto run = [&](GemmArgs& args) {
          if (thin) return run_thin(args, 0, units);
          if (form.trans_a) {
            turn_rows(args.a, shape, 0, turn_units(shape), own + panels);
            args.a = own + panels;
          }
          run_whole(args);
        };
        multiply(context, all, joined, begin, end, thin ? nullptr : own, pack, run);
      });
      return;
    }
    const auto pack = [&](const float* b, float* packed) {
      if (!thin) pack_factor(context, b, form.trans_b, shape, form.alpha, packed);
    };
    const auto run = [&](GemmArgs& args) {
      if (thin) {
        return context.parallel_for(
            units, [&](int64_t begin, int64_t end, int) { run_thin(args, begin, end); });
      }
      if (form.trans_a) {
        context.parallel_for(turn_units(shape), [&](int64_t begin, int64_t end, int) {
          turn_rows(args.a, shape, begin, end, memory + panels);
        });
        args.a = memory + panels;
      }
      run_product(context, args);
    };
    multiply(context, all, joined, 0, matrices, thin ? nullptr : memory, pack, run);
  }

 private:
  static GemmShape matrix_shape(const KernelContext& context, const ProductForm& form) {
    const ProductLayout layout = matmul_layout(context, form);
    return {layout.rows, layout.columns, layout.inner};
  }

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
      args.own_b = true;
      args.c += i * shape.m * shape.n;
      if (args.residual != nullptr) args.residual += i * shape.m * shape.n;
      run(args);
    }
  }
};

}  // namespace

extern const KernelList matmul_computed_kernels;
constinit const KernelList matmul_computed_kernels =
    kernel_list<AnyActivation<ProductComputed<ops::MatMul>>,
                AnyActivation<ProductComputed<ops::ScaledMatMul>>>();

}  // namespace intarsia::cpu
