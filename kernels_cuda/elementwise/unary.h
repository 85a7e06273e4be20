// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of one float input: y[i] = f(x[i]). The output may be the input.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/operators.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <class Op>
struct Unary : DeviceKernel {
  using Result = typename Op::template Result<float>;
  static constexpr KernelId id{Op::name, kVariant, {DataType::kFloat}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    if (Status status = check_attributes<typename Op::Attributes>(context); !status) return status;
    return check_operands<ops::SameShape>(
        context, {.inputs = {DataType::kFloat}, .outputs = {data_type_of<Result>}});
  }
  static Status run(const KernelContext& context);
};

/// Bounds are optional scalars.
struct Clip : DeviceKernel {
  static constexpr KernelId id{ClipOp::name, kVariant, {DataType::kFloat}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

inline Status Clip::check(const KernelContext& context) {
  constexpr KernelType t = DataType::kFloat;
  const OperandTypes types{.inputs = {t, t, t}, .outputs = {t}};
  if (Status status = check_operands<ops::SameShape>(context, types); !status) return status;
  for (int i = 1; i <= 2; ++i) {
    const TensorView& bound = context.input(i);
    if (!bound.present() || bound.count() == 1) continue;
    return context.fail(Code::kWrongExtent, "elements of a bound", 1, bound.count(), i);
  }
  return {};
}

using UnaryOperators =
    Join<operators::FloatFunctions, operators::FloatActivations, operators::SignedActivations,
         operators::FloatArithmetic, operators::SignedArithmetic, operators::NumberArithmetic>;
using UnaryKernels = Join<ListOf<Clip>, Each<Unary, UnaryOperators>>;

}  // namespace intarsia::cuda
