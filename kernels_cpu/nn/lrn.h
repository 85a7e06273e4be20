// SPDX-License-Identifier: Apache-2.0
//
// Local response normalisation across channels (ONNX LRN), both layouts:
//
//     Y[c] = X[c] / (bias + alpha / size * sum of X[i]^2)^beta
//     i from c - floor((size - 1) / 2) to c + ceil((size - 1) / 2), as far as there are channels
//
// Images and channels (or pixels) are shared out over the threads.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct LRN {
  static constexpr KernelId id{"LRN", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
