// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {

void refuse(const Node& node, std::string message) {
  throw Error(
      node.problem(std::move(message), "export the model again with operator set 13 or newer"));
}

Value* constant(Node& node, std::string_view suffix, Constant value) {
  Graph& graph = *node.graph;
  return graph.add_constant(graph.unique_name(node.name + "_" + std::string(suffix)),
                            std::move(value));
}

Value* emit(Node& node, std::string_view type, std::vector<Value*> inputs,
            definitions::AttributeMap attributes) {
  Node* fresh =
      node.graph->add_node("", type, node.name + "_" + std::string(type), inputs, 1, &node);
  fresh->attributes = std::move(attributes);
  return fresh->outputs[0];
}

Node* append(Node& node, int index, std::string_view type, std::vector<Value*> more) {
  Graph& graph = *node.graph;
  node.complete_output(index);
  Value* result = node.outputs[static_cast<size_t>(index)];
  Value* inner = graph.add_value(graph.unique_name(result->name + "_inner"));
  node.outputs[static_cast<size_t>(index)] = inner;
  inner->producer = &node;
  inner->output = index;
  std::vector<Value*> inputs = {inner};
  inputs.insert(inputs.end(), more.begin(), more.end());
  const auto next = std::next(node.self);
  Node* before = next == graph.nodes().end() ? nullptr : next->get();
  return graph.add_node_for("", type, node.name + "_" + std::string(type), inputs,
                            std::span<Value* const>(&result, 1), before);
}

void ints_to_input(Node& node, const char* name, int index) {
  if (node.attribute(name) == nullptr) return;
  node.set_input(index, constant(node, name, Constant::ints(node.integers(name))));
  node.attributes.erase(name);
}

void real_to_input(Node& node, const char* name, int index) {
  if (node.attribute(name) == nullptr) return;
  const DataType known = node.input(0) == nullptr ? DataType::kUndefined : node.input(0)->type;
  const DataType type = known == DataType::kUndefined ? DataType::kFloat : known;
  const auto value = static_cast<double>(node.real(name, 0));
  node.set_input(index, constant(node, name, Constant::scalar_of(type, value)));
  node.attributes.erase(name);
}

void require_input(const Node& node, int index, const char* name) {
  if (node.input(index) == nullptr) refuse(node, "lacks '" + std::string(name) + "'");
}

DataType known_type(const Node& node, int input, const char* name) {
  require_input(node, input, name);
  const DataType type = type_of(*node.input(input));
  if (type != DataType::kUndefined) return type;
  throw Error(node.problem("the element type of '" + std::string(name) + "' is not known"));
}

void become_results(Node& node, const std::vector<Value*>& results) {
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    Value* output = node.outputs[i];
    if (output == nullptr) continue;
    if (i >= results.size()) {
      throw Error(node.problem("has " + std::to_string(node.outputs.size()) +
                               " outputs, but the operator has " + std::to_string(results.size())));
    }
    output->producer = nullptr;
    node.graph->add_node_for("", "Identity", node.name + "_" + std::to_string(i),
                             std::span<Value* const>(&results[i], 1),
                             std::span<Value* const>(&output, 1), &node);
  }
  node.outputs.resize(1);
  node.complete_output(0);
  node.domain.clear();
  node.type = "Identity";
  node.attributes.clear();
  node.truncate_inputs(0);
  node.set_input(0, results[0]);
}

}  // namespace intarsia::converter::version_steps
