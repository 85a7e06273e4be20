// SPDX-License-Identifier: Apache-2.0
//
// Control flow over sub-graphs of the plan: ONNX If, which runs one of two, and Contradiction,
// which stands for a branch that contradicts itself at the planned extents.
//
// The outputs of an If node are the very tensors that its branches write, so that taking a branch
// costs a call and copies nothing. Specification: https://onnx.ai/onnx/operators/onnx__If.html
#include "core/kernel_list.h"
#include "core/operators/control/control.h"
#include "core/runtime/operand_check.h"

namespace intarsia::cpu {
namespace {

/// Input 0 is a bool of one element.
struct If {
  static constexpr KernelId id{"If", "", {}};

  static Status check(const KernelContext& context) {
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

  static Status run(const KernelContext& context) {
    const auto& attributes = context.attributes<IfAttributes>();
    // Any byte but zero counts as true: the condition may come from outside.
    const bool condition = *context.input(0).as<const uint8_t>() != 0;
    return context.run_graph(condition ? attributes.then_branch : attributes.else_branch);
  }
};

/// Fails when it is reached. Its attributes are the message, so that `describe` can show it.
struct Contradiction {
  static constexpr KernelId id{"intarsia:Contradiction", "", {}};

  static Status check(const KernelContext& context) {
    return check_operand_types(context, {.inputs = {},
                                         .required_inputs = 0,
                                         .outputs = {kAnyType},
                                         .required_outputs = 0,
                                         .variadic_outputs = true});
  }

  static Status run(const KernelContext& context) {
    return context.fail(Code::kContradiction, "branch contradicts itself at the planned extents");
  }
};

}  // namespace

extern const KernelList if_kernels;
constinit const KernelList if_kernels = kernel_list<If, Contradiction>();

}  // namespace intarsia::cpu
