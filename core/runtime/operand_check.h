// SPDX-License-Identifier: Apache-2.0
//
// `check` of a kernel from its operator's shape rule, for the kernels of every device.
//
//     check_operands<ops::Conv>(context, {.inputs = {t, t, t, t}, .required_inputs = 2,
//                                         .outputs = {t}})
//
// proves that the attributes are there, that each operand has its type, and that the extents of the
// outputs are exactly those that the rule computes from the inputs. So what a kernel may rely on is
// written once, in the rule.
//
// Where a rule reads elements (starts, pads, k, ...), extents can only be proved in `run`: there
// `check` proves attributes and types by `check_operand_types<Rule>`, and `check_extents<Rule>` is
// called first in `run`. What remains for a `check` to compare by hand are bounds: extents that
// `run` reports, and those of kernels that rely on less than the rule says.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "intarsia/internal/extent_check.h"

namespace intarsia {

/// Accepts every element type: of an operand that is not read, or moved as bytes.
inline constexpr KernelType kAnyType = static_cast<ElementWidth>(255);
/// Accepts floating-point types of 16 to 64 bits: of a number that is read as a double.
inline constexpr KernelType kAnyReal = static_cast<ElementWidth>(254);
/// Accepts those and integers of 8 to 64 bits.
inline constexpr KernelType kAnyNumber = static_cast<ElementWidth>(253);

/// The operands that a kernel accepts, in the order of the definition. The first `required_...` are
/// there, the others may be absent.
struct OperandTypes {
  std::initializer_list<KernelType> inputs;
  int required_inputs = 1;
  std::initializer_list<KernelType> outputs;
  int required_outputs = 1;
  /// The last type is that of any number of operands; the inputs among them are all there.
  bool variadic_inputs = false;
  bool variadic_outputs = false;
};

/// The first thing that every `check` does, on every device: fails unless the operands are there
/// where required, have these types, and are no more. Until it has passed no operand's extents and
/// no attribute may be looked at.
Status check_operand_types(const KernelContext& context, const OperandTypes& types);

/// Fails unless the node carries the attributes A.
template <class A>
Status check_attributes(const KernelContext& context) {
  return context.has_attributes<A>() ? Status()
                                     : context.fail(Code::kCorruptPlan, "bytes of attributes",
                                                    sizeof(A), context.attribute_bytes());
}

/// The node's attributes; a default-made A if it is empty.
template <class A>
A attributes_of(const KernelContext& context) {
  if constexpr (std::is_empty_v<A>) {
    return A{};
  } else {
    return context.attributes<A>();
  }
}

/// Fails unless the outputs have the extents that the rule computes.
template <class Rule>
Status check_extents(const KernelContext& context) {
  ExtentCheck extents(context);
  return Rule::infer(extents);
}

/// Attributes and types; rules of operators without attributes name none.
template <class Rule>
Status check_operand_types(const KernelContext& context, const OperandTypes& types) {
  if constexpr (requires { typename Rule::Attributes; }) {
    if (Status status = check_attributes<typename Rule::Attributes>(context); !status) {
      return status;
    }
  }
  return check_operand_types(context, types);
}

/// Attributes, types and extents.
template <class Rule>
Status check_operands(const KernelContext& context, const OperandTypes& types) {
  if (Status status = check_operand_types<Rule>(context, types); !status) return status;
  return check_extents<Rule>(context);
}

/// Types, and that output 0 has as many elements as input 0, of its type: for copies and views, the
/// extents of which follow from a list that the shape rule has read.
Status check_copy(const KernelContext& context, const OperandTypes& types);

/// Fails if one of these inputs is there and is not one element.
Status check_scalars(const KernelContext& context, std::initializer_list<int> inputs);

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

}  // namespace intarsia
