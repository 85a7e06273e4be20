// SPDX-License-Identifier: Apache-2.0
#include "converter/simplify.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "core/definitions/dim.h"

namespace intarsia::converter {
namespace {

bool same_shape(const Value& a, const Value& b) {
  if (!a.shape || !b.shape || a.shape->rank != b.shape->rank) return false;
  for (int axis = 0; axis < a.shape->rank; ++axis) {
    if (!((*a.shape)[axis] == (*b.shape)[axis])) return false;
  }
  return true;
}

/// True if output 0 holds the same elements in the same order with the same extents as input 0.
bool is_no_op(const Node& node) {
  const Value* input = node.input(0);
  const Value* output = node.output(0);
  if (input == nullptr || output == nullptr || input->type != output->type) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != nullptr && !node.outputs[i]->uses.empty()) return false;
  }
  if (!node.domain.empty()) return false;
  if (node.type == "Identity") return true;
  if (!same_shape(*input, *output)) return false;
  if (node.op->view || node.type == "Cast" || node.type == "Expand") return true;
  if (node.type == "Dropout") {
    // At inference only; a training_mode that is not known to be false stays for the kernel to
    // check.
    const Value* training = node.input(2);
    return training == nullptr || (training->constant && training->constant->integer(0) == 0);
  }
  if (node.type == "Slice") {
    // The whole of every axis, unless a negative step turns one around.
    const Value* steps = node.input(4);
    if (steps == nullptr) return true;
    if (!steps->constant) return false;
    const std::vector<int64_t> values = steps->constant->integers();
    return std::all_of(values.begin(), values.end(), [](int64_t step) { return step > 0; });
  }
  const bool single = node.type == "Sum" || node.type == "Max" || node.type == "Min" ||
                      node.type == "Mean" || node.type == "Concat";
  return single && node.inputs.size() == 1;
}

/// What makes two nodes compute the same.
std::string fingerprint(const Node& node) {
  std::string key = node.qualified_type();
  key += '/';
  key.append(reinterpret_cast<const char*>(node.attribute_bytes.data()),
             node.attribute_bytes.size());
  key += '/';
  const auto append = [&key](const void* pointer) {
    key.append(reinterpret_cast<const char*>(&pointer), sizeof(pointer));
  };
  for (const Value* input : node.inputs) append(input);
  for (const Value* output : node.outputs) key += output != nullptr ? '1' : '0';
  return key;
}

using Scope = std::unordered_map<std::string, Node*>;

bool merge_in(Graph& graph, Scope scope) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    if (!node->graphs.empty()) {
      for (const SubGraph& sub : node->graphs) changed |= merge_in(*sub.graph, scope);
      continue;
    }
    if (node->op == nullptr || node->op->impure) continue;
    const auto [found, inserted] = scope.try_emplace(fingerprint(*node), node);
    if (inserted) continue;
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i] == nullptr) continue;
      Graph::replace_uses(node->outputs[i], found->second->outputs[i]);
    }
    graph.remove(node);
    changed = true;
  }
  return changed;
}

}  // namespace

bool remove_no_ops(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    for (const SubGraph& sub : node->graphs) changed |= remove_no_ops(*sub.graph);
    if (node->op == nullptr || !is_no_op(*node)) continue;
    Graph::replace_uses(node->outputs[0], node->inputs[0]);
    graph.remove(node);
    changed = true;
  }
  return changed;
}

bool remove_dead_nodes(Graph& graph) {
  bool changed = false;
  std::vector<Node*> nodes = graph.node_list();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    Node* node = *it;
    for (const SubGraph& sub : node->graphs) changed |= remove_dead_nodes(*sub.graph);
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [](const Value* v) { return v != nullptr && !v->uses.empty(); });
    if (used || (node->op != nullptr && node->op->impure)) continue;
    graph.remove(node);
    changed = true;
  }
  return changed;
}

bool merge_common_subexpressions(Graph& graph) {
  return merge_in(graph, {});
}

void simplify(Graph& graph) {
  bool changed = true;
  while (changed) {
    changed = remove_no_ops(graph);
    changed |= merge_common_subexpressions(graph);
    changed |= remove_dead_nodes(graph);
  }
  graph.sweep();
}

void materialize_outputs(Graph& graph) {
  for (Node* node : graph.node_list()) {
    for (const SubGraph& sub : node->graphs) materialize_outputs(*sub.graph);
  }
  std::set<const Value*> seen;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* output = graph.outputs()[i];
    const bool own = output->producer != nullptr && output->graph == &graph;
    // A branch's result lives in the If's output: no node inside may need it in another place.
    if (own && seen.insert(output).second) continue;
    Value* const inputs[] = {output};
    Node* copy =
        graph.add_node("", "Identity", graph.unique_name(output->name + "_copy"), inputs, 1);
    copy->op = definitions::OperatorRegistry::builtin().find("", "Identity");
    copy->outputs[0]->type = output->type;
    if (output->constant) {
      Shape<definitions::Dim> shape;
      for (int64_t extent : output->constant->extents) shape.push(extent);
      copy->outputs[0]->shape = shape;
      copy->outputs[0]->type = output->constant->type;
    } else {
      copy->outputs[0]->shape = output->shape;
    }
    graph.set_output(static_cast<int>(i), copy->outputs[0]);
    seen.insert(copy->outputs[0]);
  }
}

}  // namespace intarsia::converter
