// SPDX-License-Identifier: Apache-2.0
//
// Inference of an If whose branches give a result different ranks, under a condition that only the
// run knows. The nodes that read such a result move into both branches, one by one as inference
// comes to them:
//
//     y = If(c, a, b); z = f(y)    becomes    z = If(c, f(a), f(b))
//
// until the ranks agree again, or until one branch contradicts itself and becomes a node that fails
// when it is reached. A result whose rank is still open has no extents (`Value::shape`); so has a
// list of extents that is longer in one branch, as long as other results differ in rank.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "converter/graph/infer.h"
#include "converter/graph/undecided.h"
#include "converter/onnx/declaration.h"

namespace intarsia::converter {

namespace {

/// The If that gives this value a rank in each branch; null if the value has one rank.
Node* opener(const Value& value) {
  const bool open = !value.constant && !value.shape && value.producer != nullptr &&
                    !value.producer->graphs.empty() &&
                    value.producer->op->control == definitions::Control::kBranches;
  return open ? value.producer : nullptr;
}

/// True if `outer` holds the node whose sub-graph is `inner`, at any depth.
bool is_around(const Graph& outer, const Graph& inner) {
  for (const Graph* at = inner.parent(); at != nullptr; at = at->parent()) {
    if (at == &outer) return true;
  }
  return false;
}

/// Adds a copy of `node` at the end of `branch`; `map` says what its operands are there, and then
/// what its results are.
Node* copy_into(Graph& branch, const Node& node, std::unordered_map<const Value*, Value*>& map) {
  std::vector<Value*> inputs, outputs;
  for (Value* value : node.inputs) {
    const auto found = map.find(value);
    inputs.push_back(found == map.end() ? value : found->second);
  }
  for (const Value* value : node.outputs) {
    outputs.push_back(value == nullptr ? nullptr
                                       : branch.add_value(branch.unique_name(value->name)));
    if (value != nullptr) map[value] = outputs.back();
  }
  Node* copy =
      branch.add_node_for(node.domain, node.type, node.name, inputs, outputs, nullptr, &node);
  copy->op = node.op;
  copy->attributes = node.attributes;
  copy->tensors = node.tensors;
  copy->attribute_bytes = node.attribute_bytes;
  for (const SubGraph& sub : node.graphs) {
    branch.adopt(copy, sub.attribute, sub.graph->clone(&branch, map));
  }
  return copy;
}

/// What moves with `reader`, in order: nodes between it and the If that it needs and that need the
/// If. All others in between come to stand in front of the If, which they do not need, or stay
/// behind it.
std::vector<Node*> nodes_to_move(Node& branches, Node& reader) {
  Graph& graph = *branches.graph;
  std::set<const Node*> behind{&branches};
  std::vector<Node*> between, moved{&reader};
  for (auto at = std::next(branches.self); at->get() != &reader; ++at) between.push_back(at->get());
  for (Node* node : between) {
    for_each_needed(*node, [&](const Value* value) {
      if (behind.contains(value->producer)) behind.insert(node);
    });
  }
  std::set<const Node*> needed;
  const auto need = [&](const Value* value) { needed.insert(value->producer); };
  for_each_needed(reader, need);
  std::reverse(between.begin(), between.end());
  for (Node* node : between) {
    if (!behind.contains(node) || !needed.contains(node)) continue;
    moved.push_back(node);
    for_each_needed(*node, need);
  }
  std::reverse(moved.begin(), moved.end());
  std::reverse(between.begin(), between.end());
  for (Node* node : between) {
    if (!behind.contains(node)) graph.move_before(node, &branches);
  }
  return moved;
}

}  // namespace

Node* Inference::open_rank_of(const Node& node) const {
  if (!has_open_ranks_) return nullptr;
  Node* found = nullptr;
  for_each_needed(node, [&](const Value* value) {
    Node* deciding = opener(*value);
    if (deciding == nullptr) return;  // a value inside of the node may not be inferred yet
    if (deciding->graph == node.graph) found = deciding;
    // It has moved into the branches of one If, and reads what another one leaves open.
    if (is_around(*deciding->graph, *node.graph)) require_rank(*deciding);
  });
  return found;
}

void Inference::move_into_branches(Node* branches, Node* reader) {
  const std::vector<Node*> moved = nodes_to_move(*branches, *reader);
  moved_nodes_left_ -= static_cast<int64_t>(moved.size());
  if (moved_nodes_left_ < 0) require_rank(*branches);
  std::vector<std::vector<Node*>> copies;
  std::vector<std::unordered_map<const Value*, Value*>> maps(branches->graphs.size());
  for (size_t i = 0; i < branches->graphs.size(); ++i) {
    Graph& branch = *branches->graphs[i].graph;
    for (size_t k = 0; k < branches->outputs.size(); ++k) {
      if (branches->outputs[k] != nullptr) maps[i][branches->outputs[k]] = branch.outputs()[k];
    }
    copies.emplace_back();
    for (const Node* node : moved) copies.back().push_back(copy_into(branch, *node, maps[i]));
  }
  // Results that others read, too, become results of the If.
  const std::set<const Node*> gone(moved.begin(), moved.end());
  for (const Node* node : moved) {
    for (Value* value : node->outputs) {
      if (value == nullptr) continue;
      const auto stays = [&](const Use& use) { return gone.count(use.node) == 0; };
      if (std::none_of(value->uses.begin(), value->uses.end(), stays)) continue;
      const auto place = static_cast<int>(branches->outputs.size());
      branches->complete_output(place);
      Value* result = branches->outputs.back();
      result->name = value->name;  // which goes away
      result->declared = value->declared;
      result->declared_type = value->declared_type;
      result->declared_as_output = value->declared_as_output;
      for (size_t i = 0; i < branches->graphs.size(); ++i) {
        branches->graphs[i].graph->add_output(maps[i][value]);
      }
      Graph::replace_uses_if(value, result, stays);
    }
  }
  for (auto node = moved.rbegin(); node != moved.rend(); ++node) branches->graph->remove(*node);
  infer_branches(branches, copies);
  join_branches(branches);
  check_declarations(*branches);
}

void Inference::settle_ranks(Graph& graph) {
  if (!has_open_ranks_) return;
  for (const Value* output : graph.outputs()) {
    if (const Node* deciding = opener(*output)) require_rank(*deciding);
  }
  for (const auto& node : graph.nodes()) {
    for (Value*& output : node->outputs) {
      if (output == nullptr || opener(*output) == nullptr) continue;
      require_rank(*node);
      if (output->shape) continue;
      // All that read it have moved into the branches.
      output->producer = nullptr;
      output = nullptr;
    }
  }
}

void Inference::require_rank(const Node& branches) const {
  for (size_t i = 0; i < branches.outputs.size(); ++i) {
    Value* output = branches.outputs[i];
    if (output == nullptr || opener(*output) == nullptr || output->uses.empty()) continue;
    const Shape<definitions::Dim> left = shape_of(*branches.graphs[0].graph->outputs()[i]);
    const Shape<definitions::Dim> right = shape_of(*branches.graphs[1].graph->outputs()[i]);
    if (left.rank == right.rank) {
      output->shape = joined_shape(left, right);
      continue;
    }
    throw undecided(
        branches,
        fmt::format("output {} has rank {} in one branch ({}) and rank {} in the other ({}), and "
                    "the condition is not known at conversion",
                    i, left.rank, shape_text(left), right.rank, shape_text(right)),
        branches.input(0));
  }
}

}  // namespace intarsia::converter
