// SPDX-License-Identifier: Apache-2.0
//
// Gemm in float of computed matrices, either of them transposed, with alpha, beta, any C, and fused
// residual and activation: the second factor is packed into the workspace (gemm/pack.h), a first
// one that is transposed is turned round there. A row C with beta 1 starts the sums; any other C
// goes to Y first, with the residual, which may be the same memory as Y.
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

GemmShape gemm_shape(const KernelContext& context) {
  const ProductLayout layout = gemm_layout(context);
  return {layout.rows, layout.columns, layout.inner};
}

/// y = beta * C + residual, row by row; C broadcasts.
void start_sums(const KernelContext& context, const GemmShape& shape, float beta) {
  const ProductLayout layout = gemm_layout(context);
  const int64_t row_step = layout.addend_row, column_step = layout.addend_column;
  const auto* from = context.input(2).as<const float>();
  const auto* residual = context.input(3).as<const float>();
  auto* y = context.output(0).as<float>();
  context.parallel_for(shape.m, [&](int64_t begin, int64_t end, int) {
    const int64_t n = shape.n;
    if (row_step == n && (column_step == 1 || n == 1)) {  // without loops over short rows
      for (int64_t i = begin * n; i < end * n; ++i) {
        const float term = beta * from[i];
        y[i] = residual != nullptr ? term + residual[i] : term;
      }
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      const float* row = from + i * row_step;
      float* to = y + i * n;
      for (int64_t j = 0; j < n; ++j) {
        const float term = beta * row[j * column_step];
        to[j] = residual != nullptr ? term + residual[i * n + j] : term;
      }
    }
  });
}

/// A product of few columns with a transposed first factor: its transpose has few rows, which read
/// that factor as it is. REQUIRES: room for the second factor in panels, and for M x N floats.
void compute_columns(const KernelContext& context, const GemmArgs& args, bool trans_b, float alpha,
                     float* room) {
  const GemmShape& shape = args.shape;
  float* sums = room + packed_floats(1, shape.k, shape.n);
  GemmArgs turned{{shape.n, shape.m, shape.k}, args.b, shape.k, args.a, sums, shape.m};
  turned.isa = args.isa;
  if (!trans_b) {
    for (int64_t j = 0; j < shape.n; ++j) {
      for (int64_t k = 0; k < shape.k; ++k) room[j * shape.k + k] = args.b[k * shape.n + j];
    }
    turned.a = room;
  }
  context.parallel_for(thin_units(turned.shape), [&](int64_t begin, int64_t end, int) {
    thin_run(turned, false, alpha, begin, end);
  });
  context.parallel_for(shape.m, [&](int64_t begin, int64_t end, int) {
    const Epilogue& last = args.epilogue;
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < shape.n; ++j) {
        float sum = sums[j * shape.m + i];
        if (args.bias != nullptr) sum += args.bias[j];
        if (args.residual != nullptr) sum += args.residual[i * shape.n + j];
        sum = sum < last.lower ? last.lower : sum;
        args.c[i * shape.n + j] = sum > last.upper ? last.upper : sum;
      }
    }
    if (last.activate != nullptr) {
      last.activate(last.spec, args.c + begin * shape.n, shape.n, end - begin, shape.n);
    }
  });
}

struct GemmComputed {
  using Rule = ops::Gemm;
  static constexpr KernelId id{"Gemm", "computed", {DataType::kFloat}};
  static constexpr int cost = 2 * kFastCost;
  static constexpr InPlace in_place{3};
  static constexpr KernelTargets targets = kPackingTargets;

  static int64_t workspace(const KernelContext& context) {
    const GemmShape shape = gemm_shape(context);
    const bool turned = context.attributes<GemmAttributes>().trans_a != 0;
    const CheckedInt first = turned ? CheckedInt(shape.m) * shape.k * sizeof(float) : 0;
    return (panel_bytes(1, shape.k, shape.n) + first).value();
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<Rule, float>(context); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    if (context.output(0).count() == 0) return;
    const auto& attributes = context.attributes<GemmAttributes>();
    const GemmShape shape = gemm_shape(context);
    GemmArgs args = product_args(context, shape, epilogue);
    const TensorView& c = context.input(2);
    const bool trans_a = attributes.trans_a != 0, trans_b = attributes.trans_b != 0;
    const bool column = !trans_a && shape.n == 1;
    const bool row = !column && c.present() && c.rank > 0 && c.count() == shape.n &&
                     c.extents[c.rank - 1] == shape.n && attributes.beta == 1;
    if (c.present() && !row) {
      start_sums(context, shape, attributes.beta);
      args.bias = nullptr;
      args.residual = args.c;
    }
    if (!trans_a && is_narrow(shape) && !is_column(shape)) {
      return run_narrow(context, args, {trans_b ? 1 : shape.n, trans_b ? shape.k : 1},
                        attributes.alpha);
    }
    const FewSteps a_steps{trans_a ? 1 : shape.k, trans_a ? shape.m : 1};
    const FewSteps b_steps{trans_b ? shape.k : 1, trans_b ? 1 : shape.n};
    if (!column && is_few(shape, a_steps, b_steps)) {
      return context.parallel_for(few_units(shape), [&](int64_t begin, int64_t end, int) {
        few_run(args, a_steps, b_steps, attributes.alpha, begin, end);
      });
    }
    if (column) {
      const GemmArgs thin = turned(args);
      return context.parallel_for(thin_units(thin.shape), [&](int64_t begin, int64_t end, int) {
        thin_run(thin, true, attributes.alpha, begin, end);
      });
    }
    if (!trans_a && shape.m <= kThinRows) {
      return context.parallel_for(thin_units(shape), [&](int64_t begin, int64_t end, int) {
        thin_run(args, trans_b, attributes.alpha, begin, end);
      });
    }
    auto* packed = reinterpret_cast<float*>(context.workspace().data());
    if (trans_a && shape.n <= kThinRows && shape.n <= shape.k) {
      return compute_columns(context, args, trans_b, attributes.alpha, packed);
    }
    pack_factor(context, args.b, trans_b, shape, attributes.alpha, packed);
    args.b = packed;
    if (trans_a) {
      float* turned = packed + packed_floats(1, shape.k, shape.n);
      const float* a = args.a;
      context.parallel_for(turn_units(shape), [&](int64_t begin, int64_t end, int) {
        turn_rows(a, shape, begin, end, turned);
      });
      args.a = turned;
    }
    run_product(context, args);
  }
};

}  // namespace

extern const KernelList gemm_computed_kernels;
constinit const KernelList gemm_computed_kernels = kernel_list<AnyActivation<GemmComputed>>();

}  // namespace intarsia::cpu
