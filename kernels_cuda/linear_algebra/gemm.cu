// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/linear_algebra/gemm.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/linear_algebra/matrix_problem.h"

namespace intarsia::cuda {
namespace {

template <class T>
Status run_gemm(const KernelContext& context, bool b_is_transposed) {
  const auto& attributes = context.attributes<GemmAttributes>();
  const TensorView& c = context.input(2);
  if (context.output(0).count() == 0) return {};
  const ProductExtents extents = gemm_extents(context);
  MatrixProblem<T> problem;
  const bool trans_a = attributes.trans_a != 0;
  problem.a_row = static_cast<int>(trans_a ? 1 : extents.depth);
  problem.a_depth = static_cast<int>(trans_a ? extents.rows : 1);
  problem.b_depth = static_cast<int>(b_is_transposed ? 1 : extents.columns);
  problem.b_column = static_cast<int>(b_is_transposed ? extents.depth : 1);
  problem.left = elements<T>(context.input(0));
  problem.right = elements<T>(context.input(1));
  Epilogue<T> epilogue = epilogue_of<T>(context, attributes);
  epilogue.alpha = attributes.alpha;
  epilogue.beta = c.present() ? attributes.beta : 0;  // else it may be infinite
  epilogue.addend_row = c.present() ? static_cast<int>(broadcast_stride(c, 2, 0)) : 0;
  epilogue.addend_column = c.present() ? static_cast<int>(broadcast_stride(c, 2, 1)) : 0;
  return launched(context,
                  launch_product(context, extents, problem, epilogue, problem.packs(extents)));
}

}  // namespace

template <class T>
Status Gemm<T>::run(const KernelContext& context) {
  return run_gemm<T>(context, context.attributes<GemmAttributes>().trans_b != 0);
}

template <class T>
Status GemmPacked<T>::run(const KernelContext& context) {
  return run_gemm<T>(context, false);
}

template <class Rule, class T>
Status MatMul<Rule, T>::run(const KernelContext& context) {
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  const ProductForm form = product_form<Rule>(context);
  const ProductExtents extents = matmul_extents(context, form);
  MatrixProblem<T> problem;
  problem.a_row = static_cast<int>(form.trans_a ? 1 : extents.depth);
  problem.a_depth = static_cast<int>(form.trans_a ? extents.rows : 1);
  problem.b_depth = static_cast<int>(form.trans_b ? 1 : extents.columns);
  problem.b_column = static_cast<int>(form.trans_b ? extents.depth : 1);
  problem.left = elements<T>(a);
  problem.right = elements<T>(b);
  const int matrix_axes = (a.rank > 1 ? 1 : 0) + (b.rank > 1 ? 1 : 0);
  for (int axis = 0; axis < y.rank - matrix_axes && extents.batches > 1; ++axis) {
    // Aligned at the batch axes: each operand's last two are the matrix.
    const int rank = y.rank - matrix_axes + 2;
    problem.matrices.add(y.extents[axis], {a.rank > 2 ? broadcast_stride(a, rank, axis) : 0,
                                           b.rank > 2 ? broadcast_stride(b, rank, axis) : 0});
  }
  Epilogue<T> epilogue = epilogue_of<T>(context, context.attributes<typename Rule::Attributes>());
  epilogue.alpha = form.alpha;
  return launched(context,
                  launch_product(context, extents, problem, epilogue, problem.packs(extents)));
}

extern const KernelList gemm_kernels;
constinit const KernelList gemm_kernels = kernel_list<GemmKernels>();

}  // namespace intarsia::cuda
