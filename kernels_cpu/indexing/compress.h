// SPDX-License-Identifier: Apache-2.0
//
// Compress: the slices along an axis (without axis: the elements) whose condition is true; what
// lies beyond the condition's length is dropped. The output is resized to what was selected. T is a
// Width; slices are copied as bytes. https://onnx.ai/onnx/operators/onnx__Compress.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Compress {
  static constexpr KernelId id{"Compress", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
