// SPDX-License-Identifier: Apache-2.0
//
// Pooling over all spatial axes (ONNX GlobalAveragePool, GlobalMaxPool, GlobalLpPool), both
// layouts. Images and channels (in blocks where channels are innermost) are shared out over the
// threads.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct GlobalAveragePool {
  static constexpr KernelId id{"GlobalAveragePool", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct GlobalMaxPool {
  static constexpr KernelId id{"GlobalMaxPool", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct GlobalLpPool {
  static constexpr KernelId id{"GlobalLpPool", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
