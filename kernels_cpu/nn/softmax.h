// SPDX-License-Identifier: Apache-2.0
//
// Softmax exp(x - max) / sum, LogSoftmax x - max - log(sum), Hardmax (1 at the first largest
// element, else 0), each along one axis (operator set 13). Sums and exponentials are in double;
// FastSoftmax and FastLogSoftmax (float, variant "fast") use the vectors of the instruction set at
// hand instead. The output may be the input. Every line is computed by one thread in a fixed order.
// Specification: https://onnx.ai/onnx/operators/onnx__Softmax.html
#pragma once

#include "core/operators/nn/softmax.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class Op, class T>
struct SoftmaxLike {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class Op, class T>
struct FastSoftmaxLike {
  static constexpr KernelId id{Op::name, "fast", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct SoftmaxOp {
  static constexpr std::string_view name = "Softmax";
};
struct LogSoftmaxOp {
  static constexpr std::string_view name = "LogSoftmax";
};
struct HardmaxOp {
  static constexpr std::string_view name = "Hardmax";
};

template <class T>
using Softmax = SoftmaxLike<SoftmaxOp, T>;
template <class T>
using LogSoftmax = SoftmaxLike<LogSoftmaxOp, T>;
template <class T>
using Hardmax = SoftmaxLike<HardmaxOp, T>;
template <class T>
using FastSoftmax = FastSoftmaxLike<SoftmaxOp, T>;
template <class T>
using FastLogSoftmax = FastSoftmaxLike<LogSoftmaxOp, T>;

}  // namespace intarsia::cpu
