// SPDX-License-Identifier: Apache-2.0
//
// The reference of ONNX MatMul, with the epilogue that fast kernels have, and of ScaledMatMul:
//
//     Y = activation(A * B + bias + Z),    Y = activation(alpha * A' * B' + bias + Z)
//
// It follows numpy.matmul. Integers wrap. The residual Z may be the same memory as Y. Rows of the
// output are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__MatMul.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/linear_algebra/operands.h"
#include "kernels_cpu/linear_algebra/row_product.h"

namespace intarsia::cpu {
namespace {

template <class Rule, class T>
struct Product {
  static constexpr KernelId id{kProductName<Rule>, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};

  static Status check(const KernelContext& context) {
    return check_with_epilogue<Rule, T>(context);
  }

  static Status run(const KernelContext& context) {
    const TensorView& a = context.input(0);
    const TensorView& b = context.input(1);
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    const ProductForm form = product_form<Rule>(context);
    const ProductLayout l = matmul_layout(context, form);
    const int batch_rank = matmul_batch_rank(context);
    const auto alpha = factor_of<Accumulator<T>>(form.alpha);
    const ReferenceEpilogue<T> end(context,
                                   activation_of(context.attributes<typename Rule::Attributes>()));

    context.parallel_for(y.count() / l.columns, [&](int64_t first, int64_t last, int) {
      for (int64_t row = first; row < last; ++row) {
        const int64_t batch = row / l.rows;
        const RowProduct<T> product{a.as<const T>() +
                                        batch_offset(a, y.extents, batch_rank, batch) +
                                        row % l.rows * l.a_row,
                                    l.a_inner,
                                    b.as<const T>() + batch_offset(b, y.extents, batch_rank, batch),
                                    l.b_inner,
                                    l.b_column,
                                    l.inner,
                                    l.columns};
        multiply_row<T>(product, [&](int64_t column, Accumulator<T> sum) {
          sum = static_cast<Accumulator<T>>(sum * alpha);
          if (end.bias != nullptr) sum += accumulable<T>(end.bias[column]);
          end.store(row * l.columns + column, sum);
        });
      }
    });
    return {};
  }
};

template <class T>
using MatMul = Product<ops::MatMul, T>;
template <class T>
using ScaledMatMul = Product<ops::ScaledMatMul, T>;

}  // namespace

extern const KernelList matmul_kernels;
constinit const KernelList matmul_kernels =
    kernel_list<Each<MatMul, WideNumbers>, Each<ScaledMatMul, Floats>>();

}  // namespace intarsia::cpu
