// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of Softmax, LogSoftmax and Hardmax share: the operators, and the check. All work
// along one axis (operator set 13). The output may be the input. Every line is computed by one
// thread in a fixed order. Specification: https://onnx.ai/onnx/operators/onnx__Softmax.html
#pragma once

#include "core/operators/nn/softmax.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

struct SoftmaxOp {
  static constexpr std::string_view name = "Softmax";
};
struct LogSoftmaxOp {
  static constexpr std::string_view name = "LogSoftmax";
};

template <class T>
Status check_softmax(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  return check_operands<ops::Softmax>(context, {.inputs = {t}, .outputs = {t}});
}

}  // namespace intarsia::cpu
