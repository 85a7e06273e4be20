// SPDX-License-Identifier: Apache-2.0
//
// Cast: y[i] = x[i] converted from type In to type Out, as on the CPU: between integers the high
// bits are dropped; to floating-point types rounding is to nearest; from them values are truncated,
// beyond the range to the nearest limit, NaN to 0; to bool everything but zero is true. The output
// may be the input where the sizes agree.
// Specification: https://onnx.ai/onnx/operators/onnx__Cast.html
#pragma once

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <class In, class Out>
struct Cast : DeviceKernel {
  static constexpr KernelId id{"Cast", kVariant, {data_type_of<In>, data_type_of<Out>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    return check_operands<ops::SameShape>(
        context, {.inputs = {data_type_of<In>}, .outputs = {data_type_of<Out>}});
  }
  static Status run(const KernelContext& context);
};

using CastTypes = Types<float, Float16, int32_t, int64_t, bool, uint8_t, int8_t>;
using CastKernels = EachPair<Cast, CastTypes, CastTypes>;

}  // namespace intarsia::cuda
