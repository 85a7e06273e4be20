// SPDX-License-Identifier: Apache-2.0
//
// Invariants of a graph.
#include <unordered_set>

#include "converter/graph/graph.h"

namespace intarsia::converter {
namespace {

// Broken invariants of one graph; `visible` holds the values that exist before the current node.
std::string check_graph(const Graph& graph, std::unordered_set<const Value*> visible) {
  for (const auto& value : graph.values()) {
    if (value->graph != &graph) return "value '" + value->name + "' has another owner";
    if (value->producer == nullptr) visible.insert(value.get());
    for (const Use& use : value->uses) {
      const auto& list = use.node != nullptr ? use.node->inputs : use.graph->outputs();
      if (static_cast<size_t>(use.index) >= list.size() ||
          list[static_cast<size_t>(use.index)] != value.get()) {
        return "value '" + value->name + "' lists a use that does not exist";
      }
    }
  }
  const auto refers = [&](const Value* value, const Use& use) {
    const size_t place = use_place(use);
    return visible.contains(value) && place < value->uses.size() && value->uses[place] == use;
  };
  for (const auto& node : graph.nodes()) {
    if (node->graph != &graph || node->self->get() != node.get()) {
      return "node '" + node->name + "' has another owner";
    }
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const Value* value = node->inputs[i];
      if (value != nullptr && !refers(value, {node.get(), nullptr, static_cast<int>(i)})) {
        return "input '" + value->name + "' of node '" + node->name +
               "' is not visible there or lacks the use";
      }
    }
    for (const SubGraph& sub : node->graphs) {
      if (sub.graph->parent() != &graph || sub.graph->owner() != node.get()) {
        return "sub-graph '" + sub.attribute + "' of '" + node->name + "' has another owner";
      }
      if (std::string text = check_graph(*sub.graph, visible); !text.empty()) return text;
    }
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      const Value* value = node->outputs[i];
      if (value == nullptr) continue;
      if (value->producer != node.get() || value->output != static_cast<int>(i) ||
          value->graph != &graph) {
        return "output '" + value->name + "' of '" + node->name + "' has another producer";
      }
      visible.insert(value);
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value* value = graph.outputs()[i];
    if (!refers(value, {nullptr, const_cast<Graph*>(&graph), static_cast<int>(i)})) {
      return "graph output '" + value->name + "' is not visible or lacks the use";
    }
  }
  return {};
}

}  // namespace

std::string Graph::check() const {
  return check_graph(*this, {});
}

}  // namespace intarsia::converter
