// SPDX-License-Identifier: Apache-2.0
//
// `check` of a kernel from its operator's shape rule.
//
//     check_operands<ops::Conv>(context, {.inputs = {t, t, t, t}, .required_inputs = 2,
//                                         .outputs = {t}})
//
// proves that the attributes are there, that each operand has its type, and that the extents of the
// outputs are exactly those that the rule computes from the inputs. So what a kernel may rely on is
// written once, in the rule.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "intarsia/shape.h"

namespace intarsia::cpu {

/// The operands that a kernel accepts, in the order of the definition.
struct OperandTypes {
  std::initializer_list<KernelType> inputs;
  int required_inputs = 1;
  std::initializer_list<KernelType> outputs;
  int required_outputs = 1;
};

/// Fails unless the operands are present where required, have these types, and are no more.
Status check_operand_types(const KernelContext& context, const OperandTypes& types);

/// A shape context that compares the outputs with the rule's result instead of setting them.
class ShapeAgreement : public ShapeContext {
 public:
  explicit ShapeAgreement(const KernelContext& context)
      : ShapeContext(context), kernel_context_(context) {}
  Status set_output(int output, DataType, const Shape<Dim>& shape) const;

 private:
  const KernelContext& kernel_context_;
};

template <class Rule>
Status check_operands(const KernelContext& context, const OperandTypes& types) {
  using A = typename Rule::Attributes;
  if (!context.has_attributes<A>()) {
    return context.fail(Code::kCorruptPlan, "bytes of attributes", sizeof(A),
                        context.attribute_bytes());
  }
  if (Status status = check_operand_types(context, types); !status) return status;
  ShapeAgreement agreement(context);
  return Rule::infer(agreement);
}

/// Fails if the node was planned with less scratch memory than `required` bytes.
inline Status check_workspace(const KernelContext& context, int64_t required) {
  return context.workspace_bytes() >= required
             ? Status()
             : context.fail(Code::kCorruptPlan, "bytes of workspace", required,
                            context.workspace_bytes());
}

/// Fails if the packed form of `input` has fewer than `required` bytes.
inline Status check_capacity(const KernelContext& context, int input, int64_t required) {
  const int64_t found = context.capacity(input);
  return found >= required ? Status()
                           : context.fail(Code::kCorruptPlan, "bytes of the packed weights",
                                          required, found, input);
}

}  // namespace intarsia::cpu
