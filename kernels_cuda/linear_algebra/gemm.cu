// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/linear_algebra/gemm.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/linear_algebra/product.h"

namespace intarsia::cuda {
namespace {

/// Dense output rows x columns per batch; A and B at any strides.
struct MatrixProblem {
  struct Row {
    int64_t a = 0;
    int64_t out = 0;
  };
  struct Tap {
    int64_t a = 0;
  };
  int64_t rows = 0, columns = 0, depth = 0, batches = 1;
  int64_t a_row = 0, a_depth = 0, b_depth = 0, b_column = 0;
  StridedAxes<2> matrices;  // where each batch's A and B begin
  Global<const float> left, right;

  INTARSIA_DEVICE Row row(int64_t batch, int64_t row) const {
    int64_t starts[2];
    matrices.locate(batch, starts);
    return {starts[0] + row * a_row, (batch * rows + row) * columns};
  }
  INTARSIA_DEVICE Tap tap(int64_t, int64_t k) const { return {k * a_depth}; }
  INTARSIA_DEVICE float a(const Row& row, const Tap& tap) const { return left[row.a + tap.a]; }
  INTARSIA_DEVICE float b(int64_t batch, int64_t k, int64_t column) const {
    int64_t starts[2];
    matrices.locate(batch, starts);
    return right[starts[1] + k * b_depth + column * b_column];
  }
  INTARSIA_DEVICE int64_t output(const Row& row, int64_t, int64_t column) const {
    return row.out + column;
  }
  INTARSIA_DEVICE int64_t channel(int64_t, int64_t column) const { return column; }
};

Status run_gemm(const KernelContext& context, bool b_is_transposed) {
  const auto& attributes = context.attributes<GemmAttributes>();
  const TensorView& a = context.input(0);
  const TensorView& c = context.input(2);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  MatrixProblem problem;
  problem.rows = y.extents[0];
  problem.columns = y.extents[1];
  const bool trans_a = attributes.trans_a != 0;
  problem.depth = a.extents[trans_a ? 0 : 1];
  problem.a_row = trans_a ? 1 : problem.depth;
  problem.a_depth = trans_a ? problem.rows : 1;
  problem.b_depth = b_is_transposed ? 1 : problem.columns;
  problem.b_column = b_is_transposed ? problem.depth : 1;
  problem.left = elements<float>(a);
  problem.right = elements<float>(context.input(1));
  Epilogue epilogue = epilogue_of(context, attributes);
  epilogue.alpha = attributes.alpha;
  epilogue.beta = attributes.beta;
  epilogue.addend_row = c.present() ? broadcast_stride(c, 2, 0) : 0;
  epilogue.addend_column = c.present() ? broadcast_stride(c, 2, 1) : 0;
  return launched(context, launch_product(problem, epilogue, stream_of(context)));
}

}  // namespace

Status Gemm::run(const KernelContext& context) {
  return run_gemm(context, context.attributes<GemmAttributes>().trans_b != 0);
}

Status GemmPacked::run(const KernelContext& context) {
  return run_gemm(context, false);
}

Status MatMul::run(const KernelContext& context) {
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  MatrixProblem problem;
  problem.rows = a.rank > 1 ? a.extents[a.rank - 2] : 1;
  problem.columns = b.rank > 1 ? b.extents[b.rank - 1] : 1;
  problem.depth = a.extents[a.rank - 1];
  problem.a_row = problem.depth;
  problem.a_depth = 1;
  problem.b_depth = problem.columns;
  problem.b_column = 1;
  problem.left = elements<float>(a);
  problem.right = elements<float>(b);
  const int matrix_axes = (a.rank > 1 ? 1 : 0) + (b.rank > 1 ? 1 : 0);
  for (int axis = 0; axis < y.rank - matrix_axes; ++axis) {
    // Aligned at the batch axes: each operand's last two are the matrix.
    const int rank = y.rank - matrix_axes + 2;
    problem.matrices.add(y.extents[axis], {a.rank > 2 ? broadcast_stride(a, rank, axis) : 0,
                                           b.rank > 2 ? broadcast_stride(b, rank, axis) : 0});
    problem.batches *= y.extents[axis];
  }
  const Epilogue epilogue = epilogue_of(context, context.attributes<MatMulAttributes>());
  return launched(context, launch_product(problem, epilogue, stream_of(context)));
}

extern const KernelList gemm_kernels;
constinit const KernelList gemm_kernels = kernel_list<GemmKernels>();

}  // namespace intarsia::cuda
