// SPDX-License-Identifier: Apache-2.0
//
// Fast products in element types other than float32 (gemm/typed.h), as MatMul and Gemm have them:
// bias or C is input 2, the residual input 3, all operands are dense. A product with one column is
// computed as one with one row, B' * A', whose elements lie the same.
#pragma once

#include <utility>

#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/common/typed_products.h"
#include "kernels_cpu/linear_algebra/operands.h"

namespace intarsia::cpu {

/// T as the storage type of typed.h: integers are unsigned.
template <class T>
using ProductType = std::conditional_t<sizeof(T) == 2, T, Accumulator<T>>;

inline GemmShape product_shape(const ProductLayout& l, bool one_column) {
  return one_column ? GemmShape{1, l.rows, l.inner} : GemmShape{l.rows, l.columns, l.inner};
}

template <class T>
TypedArgs<ProductType<T>> typed_args(const KernelContext& context, const ProductLayout& l,
                                     bool one_column) {
  using S = ProductType<T>;
  TypedArgs<S> args{};
  args.shape = product_shape(l, one_column);
  args.a = {context.input(0).as<const S>(), static_cast<ptrdiff_t>(l.a_row),
            static_cast<ptrdiff_t>(l.a_inner)};
  args.b = {context.input(1).as<const S>(), static_cast<ptrdiff_t>(l.b_column),
            static_cast<ptrdiff_t>(l.b_inner)};
  args.d_row = static_cast<ptrdiff_t>(l.addend_row);
  args.d_column = static_cast<ptrdiff_t>(l.addend_column);
  if (one_column) {
    std::swap(args.a, args.b);
    std::swap(args.d_row, args.d_column);
  }
  args.d = context.input(2).as<const S>();
  args.z = context.input(3).as<const S>();
  args.c = context.output(0).as<S>();
  args.isa = context.isa();
  return args;
}

/// K<T> where T is given no activation.
template <template <class> class K, class T>
struct WithoutActivation : K<T> {
  static Status run(const KernelContext& context) {
    K<T>::compute(context, Epilogue{});
    return {};
  }
};

/// The kernels K<T> of all element types but float32, which has kernels of its own: of reals, and
/// of integers too.
template <template <class> class K>
using RealProductKernels =
    ListOf<WithoutActivation<K, double>, Bounded<K<Float16>>, AnyActivation<K<Float16>>,
           Bounded<K<BFloat16>>, AnyActivation<K<BFloat16>>>;
template <template <class> class K>
using ProductKernels = Join<RealProductKernels<K>,
                            ListOf<WithoutActivation<K, int32_t>, WithoutActivation<K, int64_t>,
                                   WithoutActivation<K, uint32_t>, WithoutActivation<K, uint64_t>>>;

}  // namespace intarsia::cpu
