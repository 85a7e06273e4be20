// SPDX-License-Identifier: Apache-2.0
//
// Slice: for each listed axis the elements first, first + step, ... before or after `end`; negative
// steps count down. T is a Width; elements are copied as bytes, on the caller's threads.
// https://onnx.ai/onnx/operators/onnx__Slice.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Slice {
  static constexpr KernelId id{"Slice", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
