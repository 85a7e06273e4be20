// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows (ONNX MaxPool, AveragePool, LpPool): the largest element, the mean, or the
// p-norm of the elements of X under each window. Padding counts in the mean only with
// count_include_pad, and then only as far as `pads` goes. Both layouts; a MaxPool with Indices
// keeps channels first. Output rows are shared out over the threads.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct MaxPool {
  static constexpr KernelId id{"MaxPool", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct AveragePool {
  static constexpr KernelId id{"AveragePool", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct LpPool {
  static constexpr KernelId id{"LpPool", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
