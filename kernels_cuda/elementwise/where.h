// SPDX-License-Identifier: Apache-2.0
//
// Where: z[i] = c[i] ? x[i] : y[i], all three broadcast together, of elements of any type of a
// width. The output may be x or y where the sizes agree.
// Specification: https://onnx.ai/onnx/operators/onnx__Where.html
#pragma once

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// E: an unsigned type of the width.
template <class E>
struct Where : DeviceKernel {
  static constexpr ElementWidth width = sizeof(E) == 1   ? ElementWidth::k8
                                        : sizeof(E) == 2 ? ElementWidth::k16
                                        : sizeof(E) == 4 ? ElementWidth::k32
                                                         : ElementWidth::k64;
  static constexpr KernelId id{"Where", kVariant, {width}};
  static constexpr InPlace in_place{1, 2};
  static Status check(const KernelContext& context) {
    if (Status status = check_operands<ops::WhereShape>(
            context,
            {.inputs = {DataType::kBool, width, width}, .required_inputs = 3, .outputs = {width}});
        !status) {
      return status;
    }
    const DataType type = context.output(0).type;
    for (int i = 1; i < 3; ++i) {
      if (context.input(i).type == type) continue;
      return context.fail(Code::kWrongType, "element type of the operand",
                          static_cast<int64_t>(type), static_cast<int64_t>(context.input(i).type),
                          i);
    }
    return {};
  }
  static Status run(const KernelContext& context);
};

using WhereKernels = Each<Where, Types<uint8_t, uint16_t, uint32_t, uint64_t>>;

}  // namespace intarsia::cuda
