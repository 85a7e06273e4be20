// SPDX-License-Identifier: Apache-2.0
//
// The epilogue of fast kernels. One core K gives two kernels: `AnyActivation<K>` serves nodes with
// any activation and links every activation function; `Bounded<K>` serves those whose activation is
// bounds alone (none, Relu, Clip) and links none: they are a third of a small program.
//
// K is a kernel type without `run`. Besides what a kernel may have, it has
//
//     using Rule = ...;                              // the shape rule; its attributes hold the
//                                                    // activation
//     static constexpr std::string_view kBoundedVariant = ...;
//     static void compute(const KernelContext& context, const Epilogue& epilogue);
#pragma once

#include "core/kernel_descriptor.h"
#include "core/operators/common/fused_activation.h"
#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

/// Of kernels that pack operands at run time: microcontrollers have neither vectors nor memory for
/// it.
inline constexpr KernelTargets kPackingTargets{KernelTarget::kGeneric, KernelTarget::kX86V3,
                                               KernelTarget::kX86V4, KernelTarget::kAarch64};

template <class K>
ActivationSpec activation_in(const KernelContext& context) {
  return activation_of(context.attributes<typename K::Rule::Attributes>());
}

template <class K>
struct AnyActivation : K {
  static Status run(const KernelContext& context) {
    K::compute(context, epilogue_of(activation_in<K>(context), context.isa()));
    return {};
  }
};

template <class K>
struct Bounded : K {
  static constexpr KernelId id{K::id.op, K::kBoundedVariant, K::id.types};
  static constexpr int cost = intarsia::internal::describe_facts<K>().cost - 1;

  static bool supports(const KernelContext& context) {
    return K::supports(context) && is_bounds(activation_in<K>(context));
  }

  static Status check(const KernelContext& context) {
    if (Status status = K::check(context); !status) return status;
    const ActivationSpec spec = activation_in<K>(context);
    if (is_bounds(spec)) return {};
    return context.fail(Code::kInvalidValue, "activation", static_cast<int64_t>(Activation::kClip),
                        static_cast<int64_t>(spec.kind));
  }

  static Status run(const KernelContext& context) {
    K::compute(context, bounds_of(activation_in<K>(context)));
    return {};
  }
};

}  // namespace intarsia::cpu
