// SPDX-License-Identifier: Apache-2.0
//
// ReverseSequence: the first sequence_lens[b] steps of batch b in reverse order, the others as they
// are. Time and batch are the first two axes, in either order. T is a Width; what lies behind them
// is copied as bytes. A length outside [0, steps] is an error.
// https://onnx.ai/onnx/operators/onnx__ReverseSequence.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct ReverseSequence {
  static constexpr KernelId id{"ReverseSequence", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
