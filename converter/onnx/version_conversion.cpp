// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/version_conversion.h"

#include <algorithm>
#include <unordered_map>

namespace intarsia::converter {
namespace {

using definitions::OperatorDefinition;

using Rules = std::unordered_map<std::string_view, std::vector<const VersionRule*>>;

// The element type of an output, as far as the definition tells it; kUndefined if it does not.
DataType output_type(const Node& node, const OperatorDefinition& op, size_t output) {
  if (node.is("Cast")) {
    const auto to = static_cast<uint64_t>(node.integer("to", 0));
    return to <= kLastDataType ? static_cast<DataType>(to) : DataType::kUndefined;
  }
  if (op.result_type != DataType::kUndefined) return op.result_type;
  const auto* result = definitions::formal(op.outputs, output);
  if (result == nullptr || result->type.empty()) return DataType::kUndefined;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto* parameter = definitions::formal(op.inputs, i);
    if (parameter == nullptr || parameter->type != result->type) continue;
    if (node.inputs[i] != nullptr && node.inputs[i]->type != DataType::kUndefined) {
      return node.inputs[i]->type;
    }
  }
  for (const definitions::TypeConstraint& constraint : op.types) {
    if (constraint.variable != result->type) continue;
    for (int type = 1; type <= kLastDataType; ++type) {
      const auto candidate = static_cast<DataType>(type);
      if (constraint.allowed == definitions::types({candidate})) return candidate;
    }
  }
  return DataType::kUndefined;
}

void propagate_types(Node& node, const definitions::OperatorRegistry& operators) {
  const OperatorDefinition* op = operators.find(
      node.domain, node.type, node.domain.empty() ? definitions::kLatestVersion : node.version);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr) continue;
    DataType type = op == nullptr ? DataType::kUndefined : output_type(node, *op, i);
    // A body's first result is its condition, of which the node has no output.
    const size_t result = i + (op != nullptr && op->repeats() ? 1 : 0);
    const bool returned = op == nullptr || op->control != definitions::Control::kInlined;
    if (returned && !node.graphs.empty() && result < node.graphs[0].graph->outputs().size()) {
      type = type_of(*node.graphs[0].graph->outputs()[result]);
    }
    if (type != DataType::kUndefined) node.outputs[i]->type = type;
  }
}

/// Tells the types of what a body is given.
void propagate_into_body(const Node& node, const definitions::OperatorRegistry& operators) {
  const OperatorDefinition* op = operators.find(node.domain, node.type);
  // What a graph is given that becomes part of other nodes, only these know.
  if (op == nullptr || node.graphs.empty() || op->control == definitions::Control::kInlined) return;
  const bool loop = op->control == definitions::Control::kLoop;
  const std::vector<Value*>& given = node.graphs[0].graph->inputs();
  for (size_t i = 0; i < given.size(); ++i) {
    const Value* from = node.input(static_cast<int>(i));
    if (loop && i < 2) {
      given[i]->type = i == 0 ? DataType::kInt64 : DataType::kBool;
    } else if (from != nullptr) {
      given[i]->type = type_of(*from);
    }
  }
}

/// The first input and output of an operator were required in all versions if they are now, so that
/// rules may rely on them. What comes behind them came and went, and is checked by the rule itself.
void require_first_operands(Node& node, const definitions::OperatorRegistry& operators) {
  const OperatorDefinition* op = operators.find(node.domain, node.type);
  const auto required = [](const std::vector<definitions::Parameter>& formal) {
    return !formal.empty() && formal[0].kind != definitions::Parameter::kOptional &&
           formal[0].minimum > 0;
  };
  if (op == nullptr) return;
  if (required(op->inputs) && node.input(0) == nullptr) {
    throw Error(node.problem("lacks input 0 ('" + std::string(op->inputs[0].name) + "')",
                             "the model is invalid; export it again"));
  }
  if (required(op->outputs)) node.complete_output(0);
}

void rewrite(Node& node, const Rules& rules, const definitions::OperatorRegistry& operators) {
  if (node.domain.empty() && node.version < 6) {
    node.attributes.erase("consumed_inputs");  // a hint of the first versions
  }
  bool changed = true;
  while (changed) {
    changed = false;
    // Looked up again: a rule may change the type.
    const auto found = rules.find(node.qualified_type());
    if (found == rules.end()) return;
    for (const VersionRule* rule : found->second) {
      if (node.version >= rule->below) continue;
      require_first_operands(node, operators);
      node.version = rule->below;  // so that each rule applies once
      rule->rewrite(node);
      changed = true;
      break;
    }
  }
}

void convert_graph(Graph& graph, const Rules& rules,
                   const definitions::OperatorRegistry& operators) {
  for (Node* node : graph.node_list()) {
    // Nodes that a rule puts before or after the node are newest forms, and need types too.
    const auto& nodes = graph.nodes();
    const bool first = node->self == nodes.begin();
    const auto before = first ? nodes.end() : std::prev(node->self);
    const auto after = std::next(node->self);
    rewrite(*node, rules, operators);
    propagate_into_body(*node, operators);
    for (const SubGraph& sub : node->graphs) convert_graph(*sub.graph, rules, operators);
    for (auto each = first ? nodes.begin() : std::next(before); each != after; ++each) {
      propagate_types(**each, operators);
    }
    if (node->domain.empty()) node->version = std::max(node->version, kNewestOpset);
  }
}

}  // namespace

void convert_versions(Model& model) {
  Rules rules;
  for (const VersionRule& rule : version_rules()) rules[rule.type].push_back(&rule);
  convert_graph(*model.graph, rules, *model.operators);
  model.graph->sweep();
}

}  // namespace intarsia::converter
