// SPDX-License-Identifier: Apache-2.0
#include "core/control.h"

namespace intarsia {

Status If::check(const KernelContext& context) {
  if (!context.has_attributes<IfAttributes>()) {
    return context.fail(Code::kCorruptPlan, "attribute bytes", sizeof(IfAttributes),
                        context.attribute_bytes());
  }
  const TensorView& condition = context.input(0);
  if (condition.type != DataType::kBool) {
    return context.fail(Code::kWrongType, "type of the condition",
                        static_cast<int64_t>(DataType::kBool), static_cast<int64_t>(condition.type),
                        0);
  }
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

Status Contradiction::run(const KernelContext& context) {
  return context.fail(Code::kContradiction, "branch contradicts itself at the planned extents");
}

}  // namespace intarsia
