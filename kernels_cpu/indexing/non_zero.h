// SPDX-License-Identifier: Apache-2.0
//
// NonZero: the coordinates of the elements that are not 0, one column each, in row-major order; NaN
// is not 0. The output is resized to what was found.
// https://onnx.ai/onnx/operators/onnx__NonZero.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct NonZero {
  static constexpr KernelId id{"NonZero", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
