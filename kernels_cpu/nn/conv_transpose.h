// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution, ONNX ConvTranspose: Y[o] = B + sum of X[i] * W[k] over all i, k with
// o = i * stride - pad + k * dilation. Each output element gathers its terms, so that no element is
// written by two threads. 1 to 6 spatial axes, groups, both layouts.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct ConvTranspose {
  static constexpr KernelId id{"ConvTranspose", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
