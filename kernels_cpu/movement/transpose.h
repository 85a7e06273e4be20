// SPDX-License-Identifier: Apache-2.0
//
// Transpose: axis i of the output is axis perm[i] of the input. T is a Width; elements are copied
// as bytes, on the caller's threads; strided_copy.h has the loops, among them those between N, C,
// H, W and N, H, W, C. https://onnx.ai/onnx/operators/onnx__Transpose.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Transpose {
  static constexpr KernelId id{"Transpose", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
