// SPDX-License-Identifier: Apache-2.0
//
// Rotate: pairs of elements, turned by angles, in float (core/operators/nn/attention.h).
#pragma once

#include "core/operators/nn/attention.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

struct Rotate : DeviceKernel {
  static constexpr KernelId id{"intarsia:Rotate", kVariant, {DataType::kFloat}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kFloat = DataType::kFloat;
    return check_operands<ops::Rotate>(context,
                                       {.inputs = {kFloat, kFloat, kFloat}, .outputs = {kFloat}});
  }
  static Status run(const KernelContext& context);
};

using RotateKernels = ListOf<Rotate>;

}  // namespace intarsia::cuda
