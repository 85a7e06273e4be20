// SPDX-License-Identifier: Apache-2.0
//
// Inference of operators at types that no kernel takes: what they compute in instead says a rule of
// their definition (core/definitions/computed_types.h), and casts stand around the node.
#include "converter/graph/infer_rewriting.h"
#include "converter/onnx/version_conversion_steps.h"
#include "core/definitions/rows.h"

namespace intarsia::converter {

bool Inference::compute_in_others(Node& node) {
  if (node.op->facts.computed == nullptr) return false;
  check_types(node);
  const std::vector<definitions::TypeConstraint>& variables = node.op->types;
  const auto place = [&](const std::vector<definitions::Parameter>& parameters, size_t operand) {
    const definitions::Parameter* parameter = formal(parameters, operand);
    size_t at = 0;
    while (at < variables.size() &&
           (parameter == nullptr || variables[at].variable != parameter->type)) {
      ++at;
    }
    return at;
  };
  // One more place, for operands of no variable.
  std::vector<DataType> given(variables.size() + 1, DataType::kUndefined);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != nullptr) given[place(node.op->inputs, i)] = type_of(*node.inputs[i]);
  }
  std::vector<DataType> computed = given;
  node.op->facts.computed(std::span(computed).first(variables.size()), node.attribute_bytes.data());
  if (computed == given) return false;

  const Rewriting rewriting(*this, node);
  // Small types that stay as they are take no step.
  const auto cast = [&](size_t at) {
    const bool codes = !definitions::contains(definitions::kPlainTypes, given[at]) &&
                       element_bits(given[at]) == element_bits(computed[at]);
    return codes ? "BitCast" : "Cast";
  };
  const auto to = [](DataType type) {
    return definitions::AttributeMap{{"to", static_cast<int64_t>(type)}};
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const size_t at = place(node.op->inputs, i);
    if (node.inputs[i] == nullptr || computed[at] == given[at]) continue;
    node.set_input(static_cast<int>(i),
                   rewriting.compute(cast(at), {node.inputs[i]}, to(computed[at])));
  }
  std::vector<Node*> back;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const size_t at = place(node.op->outputs, i);
    if (node.outputs[i] == nullptr || computed[at] == given[at]) continue;
    back.push_back(version_steps::append(node, static_cast<int>(i), cast(at)));
    back.back()->attributes = to(given[at]);
    rewriting.resolve(*back.back());
  }
  visit(&node);
  for (Node* each : back) visit(each);
  return true;
}

}  // namespace intarsia::converter
