// SPDX-License-Identifier: Apache-2.0
//
// Softmax exp(x - max) / sum and LogSoftmax x - max - log(sum) along one axis, in float. A line
// that contains NaN becomes NaN. The output may be the input.
// Specification: https://onnx.ai/onnx/operators/onnx__Softmax.html
#pragma once

#include "core/operators/nn/softmax.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <class Op, class T>
struct SoftmaxLike : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Softmax>(
        context, {.inputs = {data_type_of<T>}, .outputs = {data_type_of<T>}});
  }
  static Status run(const KernelContext& context);
};

struct SoftmaxOp {
  static constexpr std::string_view name = "Softmax";
  static constexpr bool logarithm = false;
};
struct LogSoftmaxOp {
  static constexpr std::string_view name = "LogSoftmax";
  static constexpr bool logarithm = true;
};

using SoftmaxKernels = EachPair<SoftmaxLike, Types<SoftmaxOp, LogSoftmaxOp>, Reals>;

}  // namespace intarsia::cuda
