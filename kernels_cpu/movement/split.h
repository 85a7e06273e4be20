// SPDX-License-Identifier: Apache-2.0
//
// Split: one tensor, cut along one axis into as many parts as there are outputs. T is a Width;
// elements are copied as bytes, on the caller's threads.
// https://onnx.ai/onnx/operators/onnx__Split.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Split {
  static constexpr KernelId id{"Split", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
