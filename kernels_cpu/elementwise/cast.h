// SPDX-License-Identifier: Apache-2.0
//
// Cast: y[i] = x[i] converted from type In to type Out.
//
// Between integers the high bits are dropped; to floating-point types rounding is to nearest, ties
// to even, and overflow gives infinity; from floating-point to integers values are truncated
// towards zero, and what ONNX leaves undefined (beyond the range, NaN) gives the nearest limit and
// 0; to bool everything but zero is true. The output may be the input where the sizes agree.
// Specification: https://onnx.ai/onnx/operators/onnx__Cast.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class In, class Out>
struct Cast {
  static constexpr KernelId id{"Cast", "", {kernel_type_of<In>, kernel_type_of<Out>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
