// SPDX-License-Identifier: Apache-2.0
//
// The reference of ONNX MatMul, with the epilogue that fast kernels have:
//
//     Y = activation(A * B + bias + Z)
//
// It follows numpy.matmul. Integers wrap. The residual Z may be the same memory as Y. Rows of the
// output are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__MatMul.html
#include "core/kernel_list.h"
#include "core/operators/linear_algebra/matmul.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/linear_algebra/row_product.h"

namespace intarsia::cpu {
namespace {

/// Matrix number `index` of an operand with `rank` axes under the batch axes of the output.
int64_t batch_offset(const TensorView& view, const int32_t* batch, int batch_rank, int64_t index) {
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

template <class T>
struct MatMul {
  static constexpr KernelId id{"MatMul", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};

  static Status check(const KernelContext& context) {
    return check_with_epilogue<ops::MatMul, T>(context);
  }

  static Status run(const KernelContext& context) {
    const TensorView& a = context.input(0);
    const TensorView& b = context.input(1);
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    const int64_t rows = a.rank > 1 ? a.extents[a.rank - 2] : 1;
    const int64_t inner = a.extents[a.rank - 1];
    const int64_t columns = b.rank > 1 ? b.extents[b.rank - 1] : 1;
    const int a_batch = a.rank > 2 ? a.rank - 2 : 0;
    const int b_batch = b.rank > 2 ? b.rank - 2 : 0;
    const int batch_rank = a_batch > b_batch ? a_batch : b_batch;
    int64_t batches = 1;
    for (int i = 0; i < batch_rank; ++i) batches *= y.extents[i];
    const ReferenceEpilogue<T> end(context, activation_of(context.attributes<MatMulAttributes>()));

    context.parallel_for(batches * rows, [&](int64_t first, int64_t last, int) {
      for (int64_t row = first; row < last; ++row) {
        const int64_t batch = row / rows;
        const RowProduct<T> product{
            a.as<const T>() + batch_offset(a, y.extents, batch_rank, batch) + row % rows * inner,
            1,
            b.as<const T>() + batch_offset(b, y.extents, batch_rank, batch),
            columns,
            1,
            inner,
            columns};
        multiply_row<T>(product, [&](int64_t column, Accumulator<T> sum) {
          if (end.bias != nullptr) sum += accumulable<T>(end.bias[column]);
          end.store(row * columns + column, sum);
        });
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList matmul_kernels;
constinit const KernelList matmul_kernels = kernel_list<Each<MatMul, WideNumbers>>();

}  // namespace intarsia::cpu
