// SPDX-License-Identifier: Apache-2.0
//
// Concat: inputs of equal rank, joined along one axis. T is a Width; elements are copied as bytes,
// on the caller's threads. The output overlaps no input.
// https://onnx.ai/onnx/operators/onnx__Concat.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Concat {
  static constexpr KernelId id{"Concat", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
