// SPDX-License-Identifier: Apache-2.0
//
// What every CUDA kernel type declares. A kernel's header compiles without CUDA: the converter
// reads `id`, `supports` and `check` from it; `run`, which launches device code, is defined in the
// .cu file of the same name and linked by programs only.
//
//     struct Softmax {
//       static constexpr KernelId id{"Softmax", kVariant, {DataType::kFloat}};
//       static Status check(const KernelContext& context) { ... }
//       static Status run(const KernelContext& context);  // softmax.cu
//     };
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/operand_check.h"

namespace intarsia::cuda {

/// The variant of the kernels here; others of the same operator append to it. Their operands lie in
/// device memory: the host sees extents only.
inline constexpr std::string_view kVariant = "cuda";

/// `check` from an operator's shape rule, as the CPU's kernels have it; rules of operators without
/// attributes name none.
template <class Rule>
Status check_rule(const KernelContext& context, const cpu::OperandTypes& types) {
  if constexpr (requires { typename Rule::Attributes; }) {
    return cpu::check_operands<Rule>(context, types);
  } else {
    if (Status status = cpu::check_operand_types(context, types); !status) return status;
    cpu::ShapeAgreement agreement(context);
    return Rule::infer(agreement);
  }
}

/// A check that the kernel's attributes, of type A, are there; an empty A is none.
template <class A>
Status check_attributes(const KernelContext& context) {
  if (std::is_empty_v<A> || context.has_attributes<A>()) return {};
  return context.fail(Code::kCorruptPlan, "bytes of attributes", sizeof(A),
                      context.attribute_bytes());
}

}  // namespace intarsia::cuda
