// SPDX-License-Identifier: Apache-2.0
//
// What the fast products share: their operands as the GEMM family takes them (gemm/gemm.h), of
// which A, B, bias and residual are inputs 0 to 3, Y the output, all dense; and their threads.
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/linear_algebra/narrow_product.h"
#include "kernels_cpu/linear_algebra/thin_product.h"

namespace intarsia::cpu {

inline GemmArgs product_args(const KernelContext& context, const GemmShape& shape,
                             const Epilogue& epilogue) {
  GemmArgs args{shape,
                context.input(0).as<const float>(),
                shape.k,
                context.input(1).as<const float>(),
                context.output(0).as<float>(),
                shape.n};
  args.bias = context.input(2).as<const float>();
  args.residual = context.input(3).as<const float>();
  args.residual_pitch = shape.n;
  args.epilogue = epilogue;
  args.isa = context.isa();
  return args;
}

/// A product with few columns and terms, whose second factor lies anywhere, on the context's
/// threads.
inline void run_narrow(const KernelContext& context, const GemmArgs& args, const NarrowFactor& b,
                       float scale) {
  context.parallel_for(narrow_units(args.shape), [&](int64_t begin, int64_t end, int) {
    narrow_run(args, b, scale, begin, end);
  });
}

/// One product with a packed second factor, on the context's threads.
inline void run_product(const KernelContext& context, const GemmArgs& args) {
  if (is_column(args.shape)) {
    return context.parallel_for(column_units(args.shape), [&](int64_t begin, int64_t end, int) {
      column_run(args, begin, end);
    });
  }
  if (is_narrow(args.shape)) return run_narrow(context, args, {kPanel, 1}, 1);
  context.parallel_for(gemm_units(args.shape),
                       [&](int64_t begin, int64_t end, int) { gemm_run(args, begin, end); });
}

/// The same on one thread.
inline void run_whole(const GemmArgs& args) {
  if (is_column(args.shape)) return column_run(args, 0, column_units(args.shape));
  if (is_narrow(args.shape)) return narrow_run(args, {kPanel, 1}, 1, 0, narrow_units(args.shape));
  gemm_run(args, 0, gemm_units(args.shape));
}

/// Packs columns of the second factor, B[k][n] or its transpose, `scale` times; `first` is the
/// first one, a multiple of kPanel.
inline void pack_columns(const float* b, bool transposed, const GemmShape& shape, float scale,
                         int64_t first, int64_t columns, float* packed) {
  const int64_t k = shape.k;
  float* to = packed + first * k;
  if (transposed) {
    pack_b_transposed(b + first * k, k, k, columns, to);
  } else {
    pack_b(b + first, shape.n, k, columns, to);
  }
  if (scale == 1) return;
  const int64_t count = packed_floats(1, k, columns);
  for (int64_t i = 0; i < count; ++i) to[i] *= scale;
}

/// The whole factor, on the context's threads.
inline void pack_factor(const KernelContext& context, const float* b, bool transposed,
                        const GemmShape& shape, float scale, float* packed) {
  constexpr int64_t kStripe = 8 * kPanel;
  const int64_t n = shape.n;
  context.parallel_for((n + kStripe - 1) / kStripe, [&](int64_t begin, int64_t end, int) {
    const int64_t first = begin * kStripe;
    const int64_t columns = (end * kStripe < n ? end * kStripe : n) - first;
    pack_columns(b, transposed, shape, scale, first, columns, packed);
  });
}

/// Panels [begin, end) of rows of a first factor that lies as A[k][m], as A[m][k].
inline void turn_rows(const float* a, const GemmShape& shape, int64_t begin, int64_t end,
                      float* turned) {
  const int64_t first = begin * kPanel;
  const int64_t rows = (end * kPanel < shape.m ? end * kPanel : shape.m) - first;
  transpose(a + first, shape.m, shape.k, rows, turned + first * shape.k, shape.k);
}
inline int64_t turn_units(const GemmShape& shape) {
  return (shape.m + kPanel - 1) / kPanel;
}

}  // namespace intarsia::cpu
