// SPDX-License-Identifier: Apache-2.0
//
// Products in float of many short rows with few columns: the tiles of gemm/ would spend their time
// on columns that are not there and on the ends of the sums. Four rows are turned, so that they go
// side by side; each element is one chain in the order of K, that of neighbours the same.
#pragma once

#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Where B lies.
struct NarrowFactor {
  int64_t k_step, column_step;
};

/// Most rows of B, and elements.
inline constexpr int64_t kNarrowTerms = 32;
inline constexpr int64_t kNarrowElements = 64;
/// Whether such a product is faster so. Small programs, without vectors, do without its text.
inline bool is_narrow(const GemmShape& shape) {
  return INTARSIA_HAS_VECTORS && shape.m >= 16 && shape.n > 0 && shape.n <= 8 && shape.k > 0 &&
         shape.k <= kNarrowTerms && shape.n * shape.k <= kNarrowElements;
}

/// Rows of a unit of work.
inline constexpr int64_t kNarrowRows = 256;
inline int64_t narrow_units(const GemmShape& shape) {
  return (shape.m + kNarrowRows - 1) / kNarrowRows;
}

/// Units [begin, end) of Y = activation(scale * A * B + bias + residual).
void narrow_run(const GemmArgs& args, const NarrowFactor& b, float scale, int64_t begin,
                int64_t end);

}  // namespace intarsia::cpu
