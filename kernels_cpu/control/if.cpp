// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/control/if.h"

#include "core/runtime/operand_check.h"

namespace intarsia {

Status If::check(const KernelContext& context) {
  if (Status status = check_attributes<IfAttributes>(context); !status) return status;
  // The outputs are written by the nodes of the branches.
  const OperandTypes types{.inputs = {DataType::kBool},
                           .outputs = {kAnyType},
                           .required_outputs = 0,
                           .variadic_outputs = true};
  if (Status status = check_operand_types(context, types); !status) return status;
  const TensorView& condition = context.input(0);
  if (condition.count() != 1) {
    return context.fail(Code::kWrongExtent, "elements of the condition", 1, condition.count(), 0);
  }
  const auto& attributes = context.attributes<IfAttributes>();
  for (uint32_t graph : {attributes.then_branch, attributes.else_branch}) {
    if (graph >= context.graph_count()) {
      return context.fail(Code::kCorruptPlan, "sub-graph", context.graph_count(), graph);
    }
  }
  return {};
}

Status If::run(const KernelContext& context) {
  const auto& attributes = context.attributes<IfAttributes>();
  // Any byte but zero counts as true: the condition may come from outside.
  const bool condition = *context.input(0).as<const uint8_t>() != 0;
  return context.run_graph(condition ? attributes.then_branch : attributes.else_branch);
}

Status Contradiction::check(const KernelContext& context) {
  return check_operand_types(context, {.inputs = {},
                                       .required_inputs = 0,
                                       .outputs = {kAnyType},
                                       .required_outputs = 0,
                                       .variadic_outputs = true});
}

Status Contradiction::run(const KernelContext& context) {
  return context.fail(Code::kContradiction, "branch contradicts itself at the planned extents");
}

}  // namespace intarsia
