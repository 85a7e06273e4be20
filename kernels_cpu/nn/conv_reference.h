// SPDX-License-Identifier: Apache-2.0
//
// Reference convolution: Y = activation(sum over group channels and taps of X * W + B + Z), ONNX
// Conv, for 1 to 6 spatial axes, groups, any padding, strides and dilations, both layouts.
//
// The residual Z may be the same memory as Y. Output rows are shared out over the threads.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Conv {
  static constexpr KernelId id{"Conv", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
