// SPDX-License-Identifier: Apache-2.0
//
// The members of `Unary<Op, T>`, for the files that instantiate it. They declare, before they
// instantiate,
//     template <class V> V evaluate(Op, V x, const Op::Attributes& attributes);
#pragma once

#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/elementwise/unary.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

template <class Op, class T>
Status Unary<Op, T>::check(const KernelContext& context) {
  using Out = typename Op::template Result<T>;
  if (Status s = check_attributes<typename Op::Attributes>(context); !s) return s;
  return check_elementwise(context,
                           {.inputs = {kernel_type_of<T>}, .outputs = {kernel_type_of<Out>}});
}

template <class Op, class T>
Status Unary<Op, T>::run(const KernelContext& context) {
  using In = Element<T>;
  using Out = Element<typename Op::template Result<T>>;
  const auto attributes = attributes_of<typename Op::Attributes>(context);
  const auto* x = context.input(0).as<typename In::Stored>();
  auto* y = context.output(0).as<typename Out::Stored>();
  for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
    INTARSIA_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      y[i] = Out::store(evaluate(Op{}, In::load(x[i]), attributes));
    }
  });
  return {};
}

}  // namespace intarsia::cpu

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_UNARY_FLOATS(Op)     \
  template struct Unary<Op, float>;   \
  template struct Unary<Op, double>;  \
  template struct Unary<Op, Float16>; \
  template struct Unary<Op, BFloat16>
#define INTARSIA_UNARY_SIGNED(Op)     \
  template struct Unary<Op, int8_t>;  \
  template struct Unary<Op, int16_t>; \
  template struct Unary<Op, int32_t>; \
  template struct Unary<Op, int64_t>
#define INTARSIA_UNARY_UNSIGNED(Op)    \
  template struct Unary<Op, uint8_t>;  \
  template struct Unary<Op, uint16_t>; \
  template struct Unary<Op, uint32_t>; \
  template struct Unary<Op, uint64_t>
