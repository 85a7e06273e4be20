// SPDX-License-Identifier: Apache-2.0
#include "converter/normalize.h"

#include <algorithm>

namespace intarsia::converter {
namespace {

using definitions::OperatorDefinition;
using definitions::Parameter;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Resolver {
 public:
  explicit Resolver(const Model& model) : model_(model) {}

  void resolve(Node& node) {
    const OperatorDefinition* op = definitions::find_operator(node.domain, node.type);
    if (op == nullptr) {
      report_unknown(node);
      return;
    }
    node.op = op;
    check_inputs(node);
    complete_outputs(node);
    read_attributes(node);
    order_graphs(node);
  }

  void finish() {
    if (!problems_.empty()) throw Error(std::move(problems_));
  }

 private:
  void report(const Node& node, std::string message, std::string hint = {}) {
    problems_.push_back(node.problem(std::move(message), std::move(hint)));
  }

  void report_unknown(const Node& node) {
    const auto opset = model_.opsets.find(node.domain);
    const auto nearest = definitions::nearest_operators(node.domain, node.type);
    report(node,
           "the operator " + node.qualified_type() +
               (opset == model_.opsets.end() ? "" : "(" + std::to_string(opset->second) + ")") +
               " is not supported",
           nearest.empty() ? "" : "names like it: " + joined(nearest));
  }

  void check_inputs(const Node& node) {
    const auto& formal = node.op->inputs;
    const bool variadic = !formal.empty() && formal.back().kind == Parameter::kVariadic;
    if (!variadic && node.inputs.size() > formal.size()) {
      report(node, "has " + std::to_string(node.inputs.size()) + " inputs, but the operator has " +
                       std::to_string(formal.size()));
    }
    for (size_t i = 0; i < std::max(formal.size(), node.inputs.size()); ++i) {
      const Parameter* parameter = i < formal.size() ? &formal[i]
                                   : variadic        ? &formal.back()
                                                     : nullptr;
      if (parameter == nullptr || parameter->kind == Parameter::kOptional) continue;
      // Zero operands suffice for a variadic parameter that follows others (Loop), not for Concat.
      if (parameter->kind == Parameter::kVariadic && i >= node.inputs.size() && i > 0) continue;
      if (node.input(static_cast<int>(i)) == nullptr) {
        report(node,
               "lacks input " + std::to_string(i) + " ('" + std::string(parameter->name) + "')");
      }
    }
  }

  // Kernels write every required output; one that the model leaves out gets a value that nobody
  // uses.
  void complete_outputs(Node& node) {
    const auto& formal = node.op->outputs;
    const bool variadic = !formal.empty() && formal.back().kind == Parameter::kVariadic;
    if (!variadic && node.outputs.size() > formal.size()) {
      report(node, "has " + std::to_string(node.outputs.size()) +
                       " outputs, but the operator has " + std::to_string(formal.size()));
    }
    for (size_t i = 0; i < formal.size() && formal[i].kind == Parameter::kRequired; ++i) {
      if (i >= node.outputs.size()) node.outputs.push_back(nullptr);
      if (node.outputs[i] != nullptr) continue;
      Graph& graph = *node.graph;
      Value* value = graph.add_value(graph.unique_name(node.name + "_unused"));
      value->producer = &node;
      value->output = static_cast<int>(i);
      node.outputs[i] = value;
    }
  }

  void read_attributes(Node& node) {
    for (const auto& [name, tensor] : node.tensors) {
      report(node, "attribute \"" + name + "\" is a tensor, which the operator does not take");
    }
    const definitions::AttributeCodec& codec = node.op->attributes;
    if (codec.read == nullptr) {
      if (!node.attributes.empty()) {
        report(node, "attribute \"" + node.attributes.begin()->first +
                         "\" is unknown; the operator has none");
      }
      return;
    }
    node.attribute_bytes.resize(codec.bytes);
    std::string message = codec.read(node.attributes, node.attribute_bytes.data());
    if (!message.empty()) report(node, std::move(message));
  }

  void order_graphs(Node& node) {
    std::vector<SubGraph> ordered;
    for (std::string_view name : node.op->graphs) {
      const auto found = std::find_if(node.graphs.begin(), node.graphs.end(),
                                      [&](const SubGraph& sub) { return sub.attribute == name; });
      if (found == node.graphs.end()) {
        report(node, "lacks the graph attribute \"" + std::string(name) + "\"");
        return;
      }
      ordered.push_back(std::move(*found));
      node.graphs.erase(found);
    }
    for (const SubGraph& sub : node.graphs) {
      report(node, "graph attribute \"" + sub.attribute + "\" is unknown");
    }
    node.graphs = std::move(ordered);
  }

  const Model& model_;
  std::vector<Problem> problems_;
};

}  // namespace

void resolve(Model& model) {
  Resolver resolver(model);
  model.graph->walk([&resolver](Node& node) { resolver.resolve(node); });
  resolver.finish();
}

}  // namespace intarsia::converter
