// SPDX-License-Identifier: Apache-2.0
//
// Where the elements of Gemm's and MatMul's operands lie, for kernels of any element type.
#pragma once

#include <cmath>

#include "core/operators/linear_algebra/matmul.h"
#include "intarsia/kernel.h"

namespace intarsia::cpu {

/// A product Y[rows][columns] = A * B: elements from one row, column or term of the sum to the
/// next. The addend (Gemm's C, MatMul's bias) stands still along an axis that it lacks.
struct ProductLayout {
  int64_t rows, columns, inner;
  int64_t a_row, a_inner;
  int64_t b_column, b_inner;
  int64_t addend_row, addend_column;
};

inline ProductLayout gemm_layout(const KernelContext& context) {
  const auto& attributes = context.attributes<GemmAttributes>();
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  const TensorView& c = context.input(2);
  const bool trans_a = attributes.trans_a != 0;
  const bool trans_b = attributes.trans_b != 0;
  ProductLayout l{};
  l.rows = a.extents[trans_a ? 1 : 0];
  l.inner = a.extents[trans_a ? 0 : 1];
  l.columns = b.extents[trans_b ? 0 : 1];
  l.a_row = trans_a ? 1 : l.inner;
  l.a_inner = trans_a ? l.rows : 1;
  l.b_column = trans_b ? l.inner : 1;
  l.b_inner = trans_b ? 1 : l.columns;
  const int64_t c_columns = c.rank > 0 ? c.extents[c.rank - 1] : 1;
  l.addend_row = c.rank > 1 && c.extents[0] != 1 ? c_columns : 0;
  l.addend_column = c_columns != 1 ? 1 : 0;
  return l;
}

/// The product of two matrices of MatMul. Vectors are matrices of one row or one column.
inline ProductLayout matmul_layout(const KernelContext& context, const ProductForm& form = {}) {
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  ProductLayout l{};
  const int64_t a_above = a.rank > 1 ? a.extents[a.rank - 2] : 1, a_last = a.extents[a.rank - 1];
  const int64_t b_above = b.rank > 1 ? b.extents[b.rank - 2] : b.extents[0];
  const int64_t b_last = b.rank > 1 ? b.extents[b.rank - 1] : 1;
  l.rows = form.trans_a ? a_last : a_above;
  l.inner = form.trans_a ? a_above : a_last;
  l.columns = form.trans_b ? b_above : b_last;
  l.a_row = form.trans_a ? 1 : l.inner;
  l.a_inner = form.trans_a ? l.rows : 1;
  l.b_column = form.trans_b ? l.inner : 1;
  l.b_inner = form.trans_b ? 1 : l.columns;
  l.addend_column = 1;
  return l;
}

/// The axes of MatMul that count matrices of Y.
inline int matmul_batch_rank(const KernelContext& context) {
  const int left = context.input(0).rank - 2, right = context.input(1).rank - 2;
  const int most = left > right ? left : right;
  return most > 0 ? most : 0;
}

/// Where the matrix of `view` begins that serves matrix `index` of Y; `batch` are the leading
/// extents of Y, to which those of `view` broadcast.
inline int64_t batch_offset(const TensorView& view, const int32_t* batch, int batch_rank,
                            int64_t index) {
  const int own = view.rank > 2 ? view.rank - 2 : 0;
  int64_t stride = 1;
  for (int axis = own; axis < view.rank; ++axis) stride *= view.extents[axis];
  int64_t offset = 0;
  for (int i = batch_rank - 1; i >= 0; --i) {
    const int64_t at = index % batch[i];
    index /= batch[i];
    const int axis = i - (batch_rank - own);
    if (axis < 0) continue;
    if (view.extents[axis] != 1) offset += at * stride;
    stride *= view.extents[axis];
  }
  return offset;
}

/// Neighbouring matrices of Y that share their second factor: as their first ones then lie one
/// behind the other, they are one product with more rows.
inline int64_t joined_matrices(const KernelContext& context) {
  const TensorView &b = context.input(1), &y = context.output(0);
  const int batch_rank = matmul_batch_rank(context);
  int64_t joined = 1;
  for (int i = batch_rank - 1; i >= 0; --i) {
    const int of_b = i - (batch_rank - (b.rank - 2));
    if (of_b >= 0 && b.extents[of_b] != 1) break;
    joined *= y.extents[i];
  }
  return joined;
}

/// True if integers can be multiplied with Gemm's factors. Beyond 2^24 a float no longer tells
/// neighbouring integers apart.
inline bool whole_factors(const GemmAttributes& attributes) {
  for (const float factor : {attributes.alpha, attributes.beta}) {
    if (!(std::fabs(factor) <= 0x1p24f) || factor != std::trunc(factor)) return false;
  }
  return true;
}
inline Status check_factors(const KernelContext& context) {
  if (whole_factors(context.attributes<GemmAttributes>())) return {};
  return context.fail(Code::kUnsupported, "fractional alpha or beta of an integer Gemm");
}

/// A factor as a number of type V. Integers are given whole ones only.
template <class V>
V factor_of(float factor) {
  if constexpr (std::is_floating_point_v<V>) {
    return static_cast<V>(factor);
  } else {
    return static_cast<V>(static_cast<int64_t>(factor));
  }
}

}  // namespace intarsia::cpu
