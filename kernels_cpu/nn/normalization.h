// SPDX-License-Identifier: Apache-2.0
//
// Normalisations with learned scale and shift (ONNX BatchNormalization, InstanceNormalization,
// GroupNormalization, LayerNormalization, RMSNormalization):
//
//     Y = (X - mean) / sqrt(variance + epsilon) * scale + shift
//
// Statistics and arithmetic are in double. Y may be the same memory as X. BatchNormalization takes
// its statistics as inputs, or with training_mode computes them and the running ones; without it
// serves both layouts. The others keep channels first.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

/// P is the type of scale, shift, mean and variance.
template <class T, class P>
struct BatchNormalization {
  static constexpr KernelId id{
      "BatchNormalization", "", {kernel_type_of<T>, kernel_type_of<P>, kernel_type_of<P>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct InstanceNormalization {
  static constexpr KernelId id{"InstanceNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct GroupNormalization {
  static constexpr KernelId id{"GroupNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// Mean and InvStdDev, if wanted, are float.
template <class T>
struct LayerNormalization {
  static constexpr KernelId id{"LayerNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// V is the type of scale and Y.
template <class T, class V>
struct RMSNormalization {
  static constexpr KernelId id{"RMSNormalization", "", {kernel_type_of<T>, kernel_type_of<V>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
