// SPDX-License-Identifier: Apache-2.0
//
// `Bounded<K>`: kernel K for nodes whose activation is bounds alone (none, Relu, Clip). K links
// every activation function, Bounded<K> none: they are a third of a small program.
//
// K has `kBoundedVariant`, `activation(context)`, the node's activation, and `compute(context,
// epilogue)`, its `run` with another epilogue. K's source instantiates Bounded<K>.
#pragma once

#include "core/kernel_descriptor.h"
#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

template <class K>
struct Bounded : K {
  static constexpr KernelId id{K::id.op, K::kBoundedVariant, K::id.types};
  static constexpr int cost = internal::describe_facts<K>().cost - 1;
  static bool supports(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class K>
bool Bounded<K>::supports(const KernelContext& context) {
  return K::supports(context) && is_bounds(K::activation(context));
}

template <class K>
Status Bounded<K>::check(const KernelContext& context) {
  if (Status status = K::check(context); !status) return status;
  const ActivationSpec spec = K::activation(context);
  if (is_bounds(spec)) return {};
  return context.fail(Code::kInvalidValue, "activation", static_cast<int64_t>(Activation::kClip),
                      static_cast<int64_t>(spec.kind));
}

template <class K>
Status Bounded<K>::run(const KernelContext& context) {
  K::compute(context, bounds_of(K::activation(context)));
  return {};
}

}  // namespace intarsia::cpu
