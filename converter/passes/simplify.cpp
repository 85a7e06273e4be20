// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/simplify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "converter/graph/infer.h"
#include "converter/graph/random_streams.h"
#include "core/definitions/dim.h"

namespace intarsia::converter {
namespace {

/// True if input 0 is what remains where the last operand, or one of them, is neutral.
bool leaves_input(const Node& node, size_t& kept) {
  const auto& neutral = node.op->facts.neutral;
  if (!neutral || node.inputs.size() != 2) return false;
  for (size_t operand : {size_t{1}, size_t{0}}) {
    const Value* value = node.inputs[operand];
    if (value == nullptr || !value->constant || (operand == 0 && !neutral->either_side)) continue;
    const Constant& constant = *value->constant;
    if (constant.count() != 1) continue;
    if (!constant.is_real() && !constant.is_integer()) continue;
    // The sign of 0 counts: -0 + 0 is 0, but -0 + -0 is -0.
    const double number =
        constant.is_real() ? constant.real(0) : static_cast<double>(constant.integer(0));
    const bool is_neutral =
        number == neutral->value &&
        (!constant.is_real() || std::signbit(number) == std::signbit(neutral->value));
    if (!is_neutral) continue;
    kept = 1 - operand;
    return true;
  }
  return false;
}

/// The operand of Where that a constant condition chooses everywhere.
Value* chosen_everywhere(const Node& node) {
  const Value* condition = node.is("Where") ? node.input(0) : nullptr;
  if (condition == nullptr || !condition->constant) return nullptr;
  const auto chosen = condition->constant->as<uint8_t>();
  if (chosen.empty() || !std::ranges::all_of(chosen, [&](uint8_t c) { return c == chosen[0]; })) {
    return nullptr;
  }
  return node.input(chosen[0] != 0 ? 1 : 2);
}

/// The input whose elements output 0 holds, in the same order and with the same extents. Null if
/// there is none.
Value* copied_input(const Node& node) {
  const Value* output = node.output(0);
  if (output == nullptr) return nullptr;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != nullptr && !node.outputs[i]->uses.empty()) return nullptr;
  }
  size_t kept = 0;
  const auto copies = node.op->facts.copies;
  Value* const chosen = chosen_everywhere(node);
  if (chosen == nullptr && copies == nullptr && !leaves_input(node, kept)) return nullptr;
  Value* input = chosen != nullptr ? chosen : node.input(static_cast<int>(kept));
  if (input == nullptr || (!input->constant && !input->shape) || !output->shape) return nullptr;
  if (type_of(*input) != output->type || !same_extents(*input, *output)) return nullptr;
  if (chosen != nullptr) return chosen;
  const bool same = copies == nullptr || copies(node.attribute_bytes.data(), symbolic_inputs(node));
  return same ? input : nullptr;
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

/// The nodes that are computed before a node of a graph, in that graph and in the enclosing ones.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string, Node*> nodes;

  /// The node of that fingerprint; `node`, which is added, if there is none.
  Node* find_or_add(const std::string& key, Node* node) {
    for (const Scope* at = this; at != nullptr; at = at->outer) {
      if (const auto found = at->nodes.find(key); found != at->nodes.end()) return found->second;
    }
    return nodes[key] = node;
  }
};

bool merge_in(Graph& graph, const Scope* outer) {
  bool changed = false;
  Scope scope{outer, {}};
  for (Node* node : graph.node_list()) {
    if (!node->graphs.empty()) {
      for (const SubGraph& sub : node->graphs) changed |= merge_in(*sub.graph, &scope);
      continue;
    }
    if (node->op == nullptr || node->op->impure || draws(*node)) continue;
    const Node* same = scope.find_or_add(fingerprint(*node), node);
    if (same == node) continue;
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i] == nullptr) continue;
      Graph::replace_uses(node->outputs[i], same->outputs[i]);
    }
    graph.remove(node);
    changed = true;
  }
  return changed;
}

/// Constants of a graph and of the enclosing ones: by what their elements are, or by where they lie
/// if these may be weights, which other passes change for one reader alone.
struct Constants {
  using Key = std::tuple<const std::byte*, std::string_view, DataType, std::vector<int64_t>>;
  const Constants* outer = nullptr;
  std::map<Key, Value*> values = {};

  /// The constant with these elements; `value`, which is added, if there is none.
  Value* find_or_add(Value* value) {
    const Constant& constant = *value->constant;
    Key key{constant.data.get(), {}, constant.type, constant.extents};
    if (constant.is_integer() || (constant.is_real() && constant.count() == 1)) {
      key = {nullptr,
             {reinterpret_cast<const char*>(constant.data.get()), constant.size},
             constant.type,
             constant.extents};
    }
    for (const Constants* at = this; at != nullptr; at = at->outer) {
      if (const auto found = at->values.find(key); found != at->values.end()) return found->second;
    }
    return values[key] = value;
  }
};

/// Calls of a function share the elements of its constants: they are one value, which is packed
/// and stored once. Expansions make the same small constants again for each node.
void merge_shared_constants(Graph& graph, const Constants* outer) {
  Constants constants{outer};
  for (const auto& value : graph.values()) {
    if (!value->constant || value->constant->size == 0) continue;
    Graph::replace_uses(value.get(), constants.find_or_add(value.get()));
  }
  for (const auto& node : graph.nodes()) {
    for (const SubGraph& sub : node->graphs) merge_shared_constants(*sub.graph, &constants);
  }
}

}  // namespace

bool remove_no_ops(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_list()) {
    for (const SubGraph& sub : node->graphs) changed |= remove_no_ops(*sub.graph);
    Value* source = node->op != nullptr ? copied_input(*node) : nullptr;
    if (source == nullptr) continue;
    Graph::replace_uses(node->outputs[0], source);
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

/// True if another operand that is there says what the type variable stands for.
bool is_bound_elsewhere(const Node& node, std::string_view variable, const Value* except) {
  const auto binds = [&](const std::vector<Value*>& values,
                         const std::vector<definitions::Parameter>& formals) {
    for (size_t i = 0; i < values.size(); ++i) {
      const definitions::Parameter* parameter = definitions::formal(formals, i);
      if (values[i] == nullptr || values[i] == except || parameter == nullptr) continue;
      if (parameter->type == variable) return true;
    }
    return false;
  };
  return binds(node.inputs, node.op->inputs) || binds(node.outputs, node.op->outputs);
}

/// Lets nodes leave out the optional outputs that nobody reads, as if the model did: they take no
/// memory, and a kernel can save the work.
bool leave_out_unread(Graph& graph) {
  bool changed = false;
  graph.walk([&changed](Node& node) {
    if (node.op == nullptr || !node.graphs.empty()) return;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value*& output = node.outputs[i];
      const definitions::Parameter* parameter = definitions::formal(node.op->outputs, i);
      if (output == nullptr || !output->uses.empty() || parameter == nullptr) continue;
      const bool may_lack =
          parameter->kind == definitions::Parameter::kOptional ||
          (parameter->kind == definitions::Parameter::kVariadic && parameter->may_lack);
      if (!may_lack || !is_bound_elsewhere(node, parameter->type, output)) continue;
      output->producer = nullptr;
      output = nullptr;
      changed = true;
    }
  });
  return changed;
}

bool merge_common_subexpressions(Graph& graph) {
  return merge_in(graph, nullptr);
}

void simplify(Graph& graph) {
  merge_shared_constants(graph, nullptr);
  bool changed = true;
  while (changed) {
    changed = remove_no_ops(graph);
    changed |= merge_common_subexpressions(graph);
    changed |= remove_dead_nodes(graph);
    changed |= leave_out_unread(graph);
  }
  graph.sweep();
}

namespace {

/// A branch's result and the output that it becomes are one tensor, with the extents of the output:
/// those that every branch fits in. Outer graphs first, whose extents are the larger ones.
void join_results(Graph& graph) {
  for (Node* node : graph.node_list()) {
    for (const SubGraph& sub : node->graphs) {
      const auto& results = sub.graph->outputs();
      const size_t joined =
          node->op->repeats() ? 0 : std::min(results.size(), node->outputs.size());
      for (size_t i = 0; i < joined; ++i) {
        if (node->outputs[i] != nullptr) results[i]->shape = node->outputs[i]->shape;
      }
      join_results(*sub.graph);
    }
  }
}

bool is_loop(const Graph& graph) {
  return graph.owner() != nullptr && graph.owner()->op->repeats();
}

void copy_outputs(Graph& graph) {
  for (Node* node : graph.node_list()) {
    for (const SubGraph& sub : node->graphs) copy_outputs(*sub.graph);
  }
  std::set<const Value*> seen;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* output = graph.outputs()[i];
    if (is_loop(graph)) {
      // A loop reads results wherever they lie, but for what it writes itself. It need not copy
      // what is carried from trip to trip as it is.
      const bool given = output->is_input && output->graph == &graph;
      const bool unchanged =
          i > 0 && i + 1 < graph.inputs().size() && graph.inputs()[i + 1] == output;
      if (!given || unchanged) continue;
    } else {
      const bool own = output->producer != nullptr && output->graph == &graph;
      // A branch's result lives in the If's output: no node inside may need it in another place.
      if (own && seen.insert(output).second) continue;
    }
    Value* copy = graph.add_copy(output);
    graph.set_output(static_cast<int>(i), copy);
    seen.insert(copy);
  }
}

}  // namespace

void materialize_outputs(Graph& graph) {
  copy_outputs(graph);
  join_results(graph);
}

}  // namespace intarsia::converter
