// SPDX-License-Identifier: Apache-2.0
//
// The fused end of a reference kernel's matrix product: an activation of the finished sum.
#pragma once

#include "core/operators/nn/conv.h"
#include "kernels_cpu/common/accumulate.h"

namespace intarsia::cpu {

/// Activations are defined in float; wider types and integers are never given one.
template <class T>
inline constexpr bool kActivates =
    std::is_same_v<T, float> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <class T, class A>
Status check_activation(const KernelContext& context, const A& attributes) {
  if (kActivates<T> || attributes.activation == 0) return {};
  return context.fail(Code::kUnsupported, "fused activation of this element type", 0,
                      attributes.activation);
}

/// The element to store for a finished sum.
template <class T>
T activated(const ActivationSpec& activation, Accumulator<T> sum) {
  if constexpr (kActivates<T>) {
    if (activation.kind != Activation::kNone) {
      return Element<T>::store(activate(activation, static_cast<float>(sum)));
    }
  }
  return rounded<T>(sum);
}

}  // namespace intarsia::cpu
