// SPDX-License-Identifier: Apache-2.0
//
// Fast MatMul in element types other than float32, of any two operands, computed or constant, with
// fused bias and residual, and an activation of 16-bit types:
//
//     MatMul          Y = activation(A * B + bias + Z)
//     ScaledMatMul    Y = activation(alpha * A' * B' + bias + Z)
//
// It follows numpy.matmul. Integers wrap. Where one matrix B serves all, the leading axes of A are
// rows. Blocks of the matrices of Y are shared out over the threads. The residual Z may be the same
// memory as Y.
// Specification: https://onnx.ai/onnx/operators/onnx__MatMul.html
#include "core/kernel_list.h"
#include "kernels_cpu/linear_algebra/product_typed.h"

namespace intarsia::cpu {
namespace {

/// What depends on planned extents alone, so that the workspace grows with the extents.
struct PlannedForm {
  ProductForm factors;
  bool one_b;  // and rows of A that lie one behind the other
  bool one_column;
};

template <class Rule>
PlannedForm form_of(const KernelContext& context) {
  const int rank = context.input(1).rank;
  const int32_t* planned = context.planned_extents(1);
  const ProductForm factors = product_form<Rule>(context);
  PlannedForm form{factors, !factors.trans_a,
                   rank == 1 || planned[factors.trans_b ? rank - 2 : rank - 1] == 1};
  for (int axis = 0; axis < rank - 2; ++axis) form.one_b = form.one_b && planned[axis] == 1;
  return form;
}

ProductLayout layout_of(const KernelContext& context, const PlannedForm& form) {
  ProductLayout l = matmul_layout(context, form.factors);
  if (!form.one_b) return l;
  const TensorView& a = context.input(0);
  CheckedInt rows = 1;
  for (int axis = 0; axis < a.rank - 1; ++axis) rows *= a.extents[axis];
  l.rows = rows.value();
  return l;
}

template <class R, class T>
struct ProductTyped {
  using Rule = R;
  static constexpr KernelId id{kProductName<Rule>, "fast", {kernel_type_of<T>}};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr InPlace in_place{3};

  static bool supports(const KernelContext&) { return true; }

  static int64_t workspace(const KernelContext& context) {
    const PlannedForm form = form_of<Rule>(context);
    return products_workspace<ProductType<T>>(
        context, product_shape(layout_of(context, form), form.one_column));
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<Rule, T>(context); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    using S = ProductType<T>;
    const TensorView& y = context.output(0);
    if (y.count() == 0) return;
    const PlannedForm form = form_of<Rule>(context);
    const ProductLayout layout = layout_of(context, form);
    TypedArgs<S> all = typed_args<T>(context, layout, form.one_column);
    all.alpha = factor_of<Computed<S>>(form.factors.alpha);
    all.epilogue = epilogue;
    const int64_t matrix = layout.rows * layout.columns;
    const int batch_rank = matmul_batch_rank(context);
    run_products<S>(context, all.shape, y.count() / matrix, [&](int64_t index) {
      TypedArgs<S> args = all;
      if (!form.one_b) {
        TypedFactor<S>& a = form.one_column ? args.b : args.a;
        TypedFactor<S>& b = form.one_column ? args.a : args.b;
        a.data += batch_offset(context.input(0), y.extents, batch_rank, index);
        b.data += batch_offset(context.input(1), y.extents, batch_rank, index);
      }
      args.c += index * matrix;
      if (args.z != nullptr) args.z += index * matrix;
      return args;
    });
  }
};

template <class T>
using MatMulTyped = ProductTyped<ops::MatMul, T>;
template <class T>
using ScaledMatMulTyped = ProductTyped<ops::ScaledMatMul, T>;

}  // namespace

extern const KernelList matmul_typed_kernels;
constinit const KernelList matmul_typed_kernels =
    kernel_list<ProductKernels<MatMulTyped>, RealProductKernels<ScaledMatMulTyped>>();

}  // namespace intarsia::cpu
