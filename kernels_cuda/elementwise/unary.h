// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of one input: y[i] = f(x[i]); float16 computes in float. The output may be
// the input.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/operators.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <class Op, class T>
struct Unary : DeviceKernel {
  using Result = typename Op::template Result<T>;
  static constexpr KernelId id{Op::name, kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    if (Status status = check_attributes<typename Op::Attributes>(context); !status) return status;
    return check_operands<ops::SameShape>(
        context, {.inputs = {data_type_of<T>}, .outputs = {data_type_of<Result>}});
  }
  static Status run(const KernelContext& context);
};

/// Bounds are optional scalars.
template <class T>
struct Clip : DeviceKernel {
  static constexpr KernelId id{ClipOp::name, kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    const OperandTypes types{.inputs = {t, t, t}, .outputs = {t}};
    if (Status status = check_operands<ops::SameShape>(context, types); !status) return status;
    return check_scalars(context, {1, 2});
  }
  static Status run(const KernelContext& context);
};

using UnaryOperators =
    Join<operators::FloatFunctions, operators::FloatActivations, operators::SignedActivations,
         operators::FloatArithmetic, operators::SignedArithmetic, operators::NumberArithmetic>;
using UnaryKernels = Join<Each<Clip, Reals>, EachPair<Unary, UnaryOperators, Reals>,
                          EachPair<Unary, operators::BoolLogic, Types<bool>>>;

}  // namespace intarsia::cuda
