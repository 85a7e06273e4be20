// SPDX-License-Identifier: Apache-2.0
//
// Unique: the different elements, or slices along an axis, in ascending order or in that of their
// first occurrence; with the index of the first occurrence, the result's index for each element,
// and how often it occurs. Slices compare element by element; NaN counts as largest and equals NaN.
// The outputs are resized to what was found. https://onnx.ai/onnx/operators/onnx__Unique.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Unique {
  static constexpr KernelId id{"Unique", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static int64_t workspace(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
