// SPDX-License-Identifier: Apache-2.0
//
// Products in float of few elements, which are long sums: vectors go along K. Where a factor's
// columns lie along K, fours of its rows are turned. Each element is 4 or 8 partial sums, as the
// instruction set has it.
#pragma once

#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Floats from a row of A, or a column of B, to the next, and from term to term: one of them is 1.
struct FewSteps {
  int64_t lane, k;
};

/// Whether a product is of that kind; where both factors lie along K, rows are as fast. Without
/// vectors programs do without its text.
inline bool is_few(const GemmShape& shape, const FewSteps& a, const FewSteps& b) {
  return INTARSIA_HAS_VECTORS && shape.m > 0 && shape.m <= 8 && shape.n > 0 && shape.n <= 8 &&
         shape.m * shape.n <= 16 && shape.k >= 64 && shape.k >= 16 * shape.n &&
         (a.k != 1 || b.k != 1);
}

/// Units of work: blocks of four by four elements.
inline int64_t few_units(const GemmShape& shape) {
  return (shape.m + 3) / 4 * ((shape.n + 3) / 4);
}

/// Units [begin, end) of Y = activation(scale * A * B + bias + residual).
void few_run(const GemmArgs& args, const FewSteps& a, const FewSteps& b, float scale, int64_t begin,
             int64_t end);

}  // namespace intarsia::cpu
