// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers (ONNX RNN, GRU, LSTM): all directions, activations, peepholes, clipping,
// sequence lengths and both batch layouts. Every sequence (direction and batch element) is computed
// on its own; sequences are shared out over the threads. Weights are read as rows in ONNX's order,
// in dot products with several partial sums; arithmetic is in the element type (16-bit types in
// float).
//
// Steps beyond a sequence's length give zeros in Y; Y_h and Y_c hold the last valid step.
#pragma once

#include "kernels_cpu/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct RNN {
  static constexpr KernelId id{"RNN", "", {kernel_type_of<T>}};
  static int64_t workspace(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct GRU {
  static constexpr KernelId id{"GRU", "", {kernel_type_of<T>}};
  static int64_t workspace(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct LSTM {
  static constexpr KernelId id{"LSTM", "", {kernel_type_of<T>}};
  static int64_t workspace(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
