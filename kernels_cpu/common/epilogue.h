// SPDX-License-Identifier: Apache-2.0
//
// The epilogue of products and convolutions: y = activation(sum + bias + residual).
//
// Bias and residual are inputs 2 and 3 and may be absent; the residual may be the same memory as y.
// Activations are defined in float; wider types and integers are never given one. Reference kernels
// end with `ReferenceEpilogue`; the fast ones hand the same operands to gemm/ (common/bounded.h).
#pragma once

#include "core/operators/common/activation.h"
#include "core/operators/common/fused_activation.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"

namespace intarsia::cpu {

template <class T>
inline constexpr bool kActivates =
    std::is_same_v<T, float> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The operands of a kernel with an epilogue, by the operator's rule, and its activation. Several
/// kernels have the same Rule and T: one copy is enough.
template <class Rule, class T>
[[gnu::noinline]] Status check_with_epilogue(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<Rule>(context, types); !status) return status;
  const int32_t activation = context.attributes<typename Rule::Attributes>().activation;
  if (kActivates<T> || activation == 0) return {};
  return context.fail(Code::kUnsupported, "fused activation of this element type", 0, activation);
}

/// What a reference kernel does with a finished sum.
template <class T>
struct ReferenceEpilogue {
  const T* bias;
  const T* residual;
  T* y;
  ActivationSpec activation;

  ReferenceEpilogue(const KernelContext& context, const ActivationSpec& spec)
      : bias(context.input(2).as<const T>()),
        residual(context.input(3).as<const T>()),
        y(context.output(0).as<T>()),
        activation(spec) {}

  /// Where a sum that begins with the bias starts.
  Accumulator<T> start(int64_t column) const {
    return bias != nullptr ? accumulable<T>(bias[column]) : Accumulator<T>{};
  }
  /// Stores element `at` of a sum that has the bias already.
  void store(int64_t at, Accumulator<T> sum) const {
    if (residual != nullptr) sum += accumulable<T>(residual[at]);
    if constexpr (kActivates<T>) {
      if (activation.kind != Activation::kNone) {
        y[at] = Element<T>::store(activate(activation, static_cast<float>(sum)));
        return;
      }
    }
    y[at] = rounded<T>(sum);
  }
};

}  // namespace intarsia::cpu
