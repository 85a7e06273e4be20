// SPDX-License-Identifier: Apache-2.0
//
// Products with few rows or a single column, in float: the second factor is read once, as it is,
// where packing it would read and write it besides. Sums of a row go side by side over columns;
// where B is transposed, each is a dot product of as many partial sums as a vector has. Threads
// share out the columns; an element's bits do not depend on it.
#pragma once

#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Most rows of such a product.
inline constexpr int64_t kThinRows = 3;
/// Columns of a unit of work, of which the sums are on the stack.
inline constexpr int64_t kThinColumns = 128;

/// A product with a single column as the product of that column with the first factor's transpose.
inline GemmArgs turned(const GemmArgs& args) {
  GemmArgs result = args;
  result.shape = {1, args.shape.m, args.shape.k};
  result.a = args.b;
  result.b = args.a;
  return result;
}

/// Whether these dot products are the faster way although there are many rows, whose packed or
/// narrow factor would do as well. Small programs, without vectors, do without their text.
inline constexpr int64_t kColumnTerms = 512;
inline bool is_column(const GemmShape& shape) {
  return INTARSIA_HAS_VECTORS && shape.n == 1 && shape.m >= 16 && shape.k >= 8 &&
         shape.k <= kColumnTerms;
}

/// Number of units of work.
inline int64_t thin_units(const GemmShape& shape) {
  return (shape.n + kThinColumns - 1) / kThinColumns * shape.m;
}

/// Units [begin, end) of Y = activation(scale * A * B + addend + bias + residual), `args.b` as ONNX
/// has it.
void thin_run(const GemmArgs& args, bool transposed, float scale, int64_t begin, int64_t end,
              float addend = 0);

/// Units [begin, end) of a product for which is_column, whose second factor and bias are packed: of
/// its panel, which is mostly empty, the column is taken.
inline int64_t column_units(const GemmShape& shape) {
  return thin_units({1, shape.m, shape.k});
}
void column_run(const GemmArgs& args, int64_t begin, int64_t end);

}  // namespace intarsia::cpu
