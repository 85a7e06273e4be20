// SPDX-License-Identifier: Apache-2.0
//
// Inference of If: a decided one is replaced by its branch, of others both branches are inferred
// and their outputs joined. Where the branches differ in rank: infer_branch_ranks.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/infer.h"
#include "converter/graph/sequence.h"
#include "converter/onnx/declaration.h"
#include "converter/passes/fold.h"

namespace intarsia::converter {
namespace {

using definitions::Dim;

void check_branches(const Node& node) {
  const size_t first = node.graphs[0].graph->outputs().size();
  const size_t second = node.graphs[1].graph->outputs().size();
  if (first == node.outputs.size() && second == node.outputs.size()) return;
  throw Error(node.problem(fmt::format("has {} outputs, its branches have {} and {}",
                                       node.outputs.size(), first, second)));
}

}  // namespace

Shape<Dim> joined_shape(const Shape<Dim>& a, const Shape<Dim>& b) {
  Shape<Dim> joined;
  for (int axis = 0; axis < a.rank; ++axis) joined.push(dim_either(a[axis], b[axis]));
  return joined;
}

void require_single(const Node& node, int input) {
  const Value* value = node.input(input);
  if (value == nullptr) return;
  const Shape<Dim> shape = shape_of(*value);
  Dim count = 1;
  for (int axis = 0; axis < shape.rank; ++axis) count *= shape[axis];
  if (count.lower() <= 1 && count.upper() >= 1) return;
  throw ContradictionError(node.problem(fmt::format(
      "'{}' has the extents {}; one element is expected", value->name, shape_text(shape))));
}

void Inference::visit_if(Node* node) {
  check_types(*node);
  require_single(*node, 0);
  check_branches(*node);
  const Value* condition = node->input(0);
  if (condition != nullptr) {
    std::optional<bool> decided;
    const Constant* constant = known_constant(*condition);
    if (constant != nullptr && constant->count() == 1) {
      decided = constant->integer(0) != 0;
    } else if (const auto& known = condition->elements.values;
               known && known->size() == 1 && is_constant(known->front())) {
      decided = constant_value(known->front()) != 0;
    }
    if (decided) {
      take_branch(node, *decided ? 0 : 1);
      return;
    }
  }
  for (Value* output : node->outputs) {
    if (output != nullptr) output->shape.reset();
  }
  infer_branches(node, {node->graphs[0].graph->node_list(), node->graphs[1].graph->node_list()});
  join_branches(node);
  check_declarations(*node);
}

void Inference::take_branch(Node* node, size_t branch) {
  Graph* graph = node->graph;
  std::unique_ptr<Graph> taken = std::move(node->graphs[branch].graph);
  const std::vector<Node*> moved = taken->node_list();
  const std::vector<Value*> results = graph->splice(std::move(taken), {}, node);
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    if (node->outputs[i] == nullptr) continue;
    inherit_declaration(*results[i], *node->outputs[i]);
    Graph::replace_uses(node->outputs[i], results[i]);
  }
  node->graphs.clear();
  graph->remove(node);
  for (Node* inner : moved) visit(inner);
}

void Inference::infer_branches(Node* node, const std::vector<std::vector<Node*>>& nodes) {
  std::vector<std::string> contradictions(node->graphs.size());
  std::vector<Problem> problems;
  for (size_t i = 0; i < node->graphs.size(); ++i) {
    try {
      for (Node* inner : nodes[i]) visit(inner);
      settle_ranks(*node->graphs[i].graph);
    } catch (const ContradictionError& error) {
      contradictions[i] = error.what();
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (problems.empty()) return;
  if (std::none_of(contradictions.begin(), contradictions.end(),
                   [](const std::string& text) { return text.empty(); })) {
    throw ContradictionError(std::move(problems));
  }
  for (size_t i = 0; i < node->graphs.size(); ++i) {
    if (contradictions[i].empty()) continue;
    const Graph& other = *node->graphs[1 - i].graph;
    const std::string attribute = node->graphs[i].attribute;
    auto branch = std::make_unique<Graph>(node->graph, attribute);
    Node* failing = branch->add_node("intarsia", "Contradiction",
                                     node->graph->unique_name(node->name + "_" + attribute), {},
                                     static_cast<int>(other.outputs().size()));
    failing->op = definitions::OperatorRegistry::builtin().find(definitions::kInternalDomain,
                                                                "Contradiction");
    const auto* text = reinterpret_cast<const std::byte*>(contradictions[i].data());
    failing->attribute_bytes.assign(text, text + contradictions[i].size());
    for (size_t k = 0; k < other.outputs().size(); ++k) {
      failing->outputs[k]->type = type_of(*other.outputs()[k]);
      failing->outputs[k]->shape = shape_of(*other.outputs()[k]);
      failing->outputs[k]->sequence = sequence_type(*other.outputs()[k]);
      branch->add_output(failing->outputs[k]);
    }
    node->graphs[i].graph = nullptr;
    node->graphs.erase(node->graphs.begin() + static_cast<std::ptrdiff_t>(i));
    node->graph->adopt(node, attribute, std::move(branch));
    if (i == 0) std::swap(node->graphs[0], node->graphs[1]);
    model_.warnings.push_back(fmt::format(
        "node '{}': its {} contradicts itself at the planned extents and fails if it is taken: {}",
        node->name, attribute, contradictions[i]));
  }
}

void Inference::join_branches(Node* node) {
  const Graph& first = *node->graphs[0].graph;
  const Graph& second = *node->graphs[1].graph;
  const auto rank_of = [](const Graph& graph, size_t i) {
    return shape_of(*graph.outputs()[i]).rank;
  };
  bool open = false;
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    open = open || (node->outputs[i] != nullptr && rank_of(first, i) != rank_of(second, i));
  }
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    Value* output = node->outputs[i];
    if (output == nullptr) continue;
    const Value& a = *first.outputs()[i];
    const Value& b = *second.outputs()[i];
    if (type_of(a) != type_of(b)) {
      throw Error(
          node->problem(fmt::format("output {} has type {} in one branch and {} in the other", i,
                                    data_type_name(type_of(a)), data_type_name(type_of(b)))));
    }
    if (output->shape) continue;  // joined before more nodes moved into the branches
    output->type = type_of(a);
    const Shape<Dim> left = shape_of(a), right = shape_of(b);
    // Where ranks differ lists of extents do, which decide ranks again.
    const bool list = type_of(a) == DataType::kInt64 && left.rank == 1 && is_constant(left[0]) &&
                      is_constant(right[0]) && !(left[0] == right[0]);
    if (left.rank != right.rank || (open && list)) {
      has_open_ranks_ = true;
      continue;
    }
    output->shape = joined_shape(left, right);
    output->sequence = join(sequence_type(a), sequence_type(b));
  }
  if (tries()) join_trials(*node);
}

/// The result of an If in the trial is that of the branch which the trial takes.
void Inference::join_trials(const Node& node) {
  const Constant* condition = tried(node.input(0));
  if (condition == nullptr || condition->count() != 1) return;
  const Graph& taken = *node.graphs[condition->integer(0) != 0 ? 0 : 1].graph;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr) continue;
    if (const Constant* result = tried(taken.outputs()[i])) {
      node.outputs[i]->trial.value = Constant(*result);
    }
  }
}

}  // namespace intarsia::converter
