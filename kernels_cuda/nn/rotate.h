// SPDX-License-Identifier: Apache-2.0
//
// Rotate: pairs of elements, turned by angles; float16 computes in float
// (core/operators/nn/attention.h).
#pragma once

#include "core/operators/nn/attention.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <class T>
struct Rotate : DeviceKernel {
  static constexpr KernelId id{"intarsia:Rotate", kVariant, {data_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    return check_operands<ops::Rotate>(context, {.inputs = {t, t, t}, .outputs = {t}});
  }
  static Status run(const KernelContext& context);
};

using RotateKernels = Each<Rotate, Reals>;

}  // namespace intarsia::cuda
