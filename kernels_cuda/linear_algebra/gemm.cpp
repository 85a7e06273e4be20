// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/linear_algebra/gemm.h"

namespace intarsia::cuda {

ProductExtents matmul_extents(const KernelContext& context, const ProductForm& form) {
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  const int64_t a_above = a.rank > 1 ? a.extents[a.rank - 2] : 1, a_last = a.extents[a.rank - 1];
  ProductExtents extents;
  extents.rows = form.trans_a ? a_last : a_above;
  extents.columns = b.rank > 1 ? b.extents[form.trans_b ? b.rank - 2 : b.rank - 1] : 1;
  extents.depth = form.trans_a ? a_above : a_last;
  if (!form.trans_a && is_one_matrix(b)) {  // whose rows are those of all batches
    for (int axis = 0; axis < a.rank - 2; ++axis) extents.rows *= a.extents[axis];
  }
  const int64_t matrix = extents.rows * extents.columns;
  extents.batches = matrix != 0 ? context.output(0).count() / matrix : 0;
  return extents;
}

ProductExtents gemm_extents(const KernelContext& context) {
  const bool trans_a = context.attributes<GemmAttributes>().trans_a != 0;
  const TensorView& y = context.output(0);
  return {y.extents[0], y.extents[1], context.input(0).extents[trans_a ? 0 : 1], 1};
}

template <class Rule>
Status check_matmul(const KernelContext& context, DataType type) {
  return check_product<Rule>(context, type);
}
template Status check_matmul<ops::MatMul>(const KernelContext&, DataType);
template Status check_matmul<ops::ScaledMatMul>(const KernelContext&, DataType);

Status check_gemm(const KernelContext& context, DataType type) {
  return check_product<ops::Gemm>(context, type);
}

template <class T>
void GemmPacked<T>::pack(const KernelContext& context, int, void* packed) {
  const TensorView& b = context.input(1);
  const int64_t columns = b.extents[0], depth = b.extents[1];
  const auto* from = b.as<const T>();
  auto* to = static_cast<T*>(packed);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t column = 0; column < columns; ++column) *to++ = from[column * depth + k];
  }
}

template <class T>
Status GemmPacked<T>::check(const KernelContext& context) {
  if (Status status = Gemm<T>::check(context); !status) return status;
  const int32_t trans_b = context.attributes<GemmAttributes>().trans_b;
  return trans_b != 0 ? Status() : context.fail(Code::kInvalidValue, "transB", 1, trans_b);
}

template struct GemmPacked<float>;
template struct GemmPacked<Float16>;

}  // namespace intarsia::cuda
