// SPDX-License-Identifier: Apache-2.0
//
// Pad, in its four modes, for elements of any type of a width; pads and axes are constants, the
// value need not be one. Specification: https://onnx.ai/onnx/operators/onnx__Pad.html
#pragma once

#include "core/operators/movement/pad.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

template <ElementWidth W>
struct Pad : DeviceKernel {
  static constexpr KernelId id{"Pad", kVariant, {W}};
  static bool supports(const KernelContext& context) { return are_constants(context, {1, 3}); }
  static Status check(const KernelContext& context) {
    if (Status status = check_operand_types<ops::Pad>(
            context, {.inputs = {W, DataType::kInt64, W, index_type(context.input(3))},
                      .required_inputs = 2,
                      .outputs = {W}});
        !status) {
      return status;
    }
    return check_scalars(context, {2});
  }
  static Status run(const KernelContext& context);
};

using PadKernels = OfWidths<Pad>;

}  // namespace intarsia::cuda
