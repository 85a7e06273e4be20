// SPDX-License-Identifier: Apache-2.0
//
// The members of `Binary<Op, T>` and `Variadic<Op, T>`, for the files that instantiate them. They
// declare, before they instantiate,
//     template <class V> R evaluate(Op, V x, V y, const Op::Attributes& attributes);
// and, where values or attributes can be wrong, more specific overloads of `check_values` (sees the
// second input at run time) and `check_operator` (sees types and attributes).
#pragma once

#include "kernels_cpu/elementwise/binary.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

struct AnyOp {
  template <class Op>
  AnyOp(Op) {}  // NOLINT(google-explicit-constructor): matches every Op, less well than itself
};
template <class T, class A>
Status check_operator(AnyOp, T, const A&, const KernelContext&) {
  return {};
}
template <class T, class A>
Status check_values(AnyOp, const T*, int64_t, const A&, const KernelContext&) {
  return {};
}

/// z[i] = f(x[i], y[i]) for one row; an operand that stands still is read once.
template <class X, class Y, class Z, class F>
void compute_row(const typename X::Stored* x, bool x_advances, const typename Y::Stored* y,
                 bool y_advances, typename Z::Stored* z, int64_t length, const F& f) {
  if (x_advances && y_advances) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = Z::store(f(X::load(x[i]), Y::load(y[i])));
  } else if (x_advances) {
    const auto still = Y::load(y[0]);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = Z::store(f(X::load(x[i]), still));
  } else if (y_advances) {
    const auto still = X::load(x[0]);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = Z::store(f(still, Y::load(y[i])));
  } else {
    const auto result = Z::store(f(X::load(x[0]), Y::load(y[0])));
    for (int64_t i = 0; i < length; ++i) z[i] = result;
  }
}

/// z = f(x, y) with broadcasting, over the context's threads.
template <class X, class Y, class Z, class F>
void compute_broadcast(const KernelContext& context, const F& f) {
  const TensorView& output = context.output(0);
  const TensorView* inputs[] = {&context.input(0), &context.input(1)};
  const BroadcastLoop loop(output, inputs);
  const auto* x = inputs[0]->as<typename X::Stored>();
  const auto* y = inputs[1]->as<typename Y::Stored>();
  auto* z = output.as<typename Z::Stored>();
  for_elements(context, loop.count, [&](int64_t begin, int64_t end) {
    loop.for_rows(begin, end, [&](int64_t first, int64_t length, const int64_t* offsets) {
      compute_row<X, Y, Z>(x + offsets[0], loop.advances(0), y + offsets[1], loop.advances(1),
                           z + first, length, f);
    });
  });
}

template <class Op, class T>
Status Binary<Op, T>::check(const KernelContext& context) {
  using Out = typename Op::template Result<T>;
  constexpr KernelType t = kernel_type_of<T>;
  if (Status s = check_attributes<typename Op::Attributes>(context); !s) return s;
  if (Status s = check_broadcast(
          context, {.inputs = {t, t}, .required_inputs = 2, .outputs = {kernel_type_of<Out>}});
      !s) {
    return s;
  }
  return check_operator(Op{}, T{}, attributes_of<typename Op::Attributes>(context), context);
}

template <class Op, class T>
Status Binary<Op, T>::run(const KernelContext& context) {
  using In = Element<T>;
  using Out = Element<typename Op::template Result<T>>;
  using V = typename In::Value;
  const auto attributes = attributes_of<typename Op::Attributes>(context);
  const TensorView& divisor = context.input(1);
  if (Status s = check_values(Op{}, divisor.as<T>(), divisor.count(), attributes, context); !s) {
    return s;
  }
  compute_broadcast<In, In, Out>(context,
                                 [=](V x, V y) { return evaluate(Op{}, x, y, attributes); });
  return {};
}

}  // namespace intarsia::cpu

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_INSTANTIATE_FLOATS(Kernel, Op) \
  template struct Kernel<Op, float>;            \
  template struct Kernel<Op, double>;           \
  template struct Kernel<Op, Float16>;          \
  template struct Kernel<Op, BFloat16>
#define INTARSIA_INSTANTIATE_INTEGERS(Kernel, Op) \
  template struct Kernel<Op, int8_t>;             \
  template struct Kernel<Op, int16_t>;            \
  template struct Kernel<Op, int32_t>;            \
  template struct Kernel<Op, int64_t>;            \
  template struct Kernel<Op, uint8_t>;            \
  template struct Kernel<Op, uint16_t>;           \
  template struct Kernel<Op, uint32_t>;           \
  template struct Kernel<Op, uint64_t>
