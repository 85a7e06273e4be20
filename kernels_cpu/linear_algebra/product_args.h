// SPDX-License-Identifier: Apache-2.0
//
// The operands of a fast product as the GEMM family takes them (gemm/gemm.h): A, B, bias and
// residual are inputs 0 to 3, Y the output, all dense.
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/gemm/gemm.h"

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

/// One product with a packed second factor.
inline void run_product(const KernelContext& context, const GemmShape& shape,
                        const Epilogue& epilogue) {
  const GemmArgs args = product_args(context, shape, epilogue);
  context.parallel_for(gemm_units(shape),
                       [&](int64_t begin, int64_t end, int) { gemm_run(args, begin, end); });
}

}  // namespace intarsia::cpu
