// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/gradient_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/gradient_body.h"

namespace intarsia::converter {
namespace {

/// True if the value may have a gradient, or holds what may.
bool carries_gradients(const Value& value) {
  const DataType type = type_of(value);
  return is_real(value) || type == DataType::kSequence || type == DataType::kOptional;
}

constexpr int64_t kMostSteps = 500'000;

/// Inside of a body, what changes from trip to trip depends on values outside in ways that the body
/// does not show.
void require_settled(const Value& value, const Differentiated& what) {
  const bool given = value.is_input && value.graph->parent() != nullptr;
  if (!given || what.independent.contains(&value)) return;
  throw Error(
      what.gradient.problem(fmt::format("'{}' depends on '{}', which the sub-graph is given",
                                        what.ys.front()->name, value.name),
                            fmt::format("list '{}' in zs", value.name)));
}

/// The nodes that depend on an x and produce what may have a gradient, producers first.
std::vector<Node*> dependent_nodes(const Differentiated& what, GradientBudget& budget,
                                   GradientPath& path) {
  std::vector<Node*> dependent;
  for (Node* node : nodes_before(what.ys, what.independent, what.gradient, budget)) {
    const Value* from = nullptr;
    for_each_operand(*node, [&](const Value* value) {
      require_settled(*value, what);
      const auto reached = path.reached_from.find(value);
      if (from == nullptr && reached != path.reached_from.end()) from = reached->second;
    });
    if (from == nullptr) continue;
    dependent.push_back(node);
    for (const Value* output : node->outputs) {
      const bool carries = output != nullptr && carries_gradients(*output);
      if (carries && !what.independent.contains(output)) path.reached_from[output] = from;
    }
  }
  return dependent;
}

}  // namespace

void GradientBudget::step(const Node& gradient) {
  // The names of what is made begin with the node's.
  constexpr size_t kUsualName = 64;
  steps_ += 1 + static_cast<int64_t>(gradient.name.size() / kUsualName);
  if (steps_ <= kMostSteps) return;
  throw Error(gradient.problem(
      fmt::format("the gradients of the model take more than {} nodes", kMostSteps),
      "ask for fewer of them, or of lower order"));
}

bool is_real(const Value& value) {
  return definitions::contains(definitions::types({DataType::kFloat, DataType::kDouble,
                                                   DataType::kFloat16, DataType::kBfloat16}),
                               type_of(value));
}

void for_each_operand(const Node& node, const std::function<void(const Value*)>& visit) {
  for_each_needed(node, [&](const Value* value) {
    for (const Graph* graph = value->graph; graph != nullptr; graph = graph->parent()) {
      if (graph->owner() == &node) return;
    }
    visit(value);
  });
}

std::vector<Node*> nodes_before(std::span<const Value* const> values, const ValueSet& ends,
                                const Node& gradient, GradientBudget& budget) {
  struct Frame {
    Node* node;
    std::vector<const Value*> operands;
  };
  std::vector<Node*> order;
  std::unordered_set<const Node*> seen;
  std::vector<Frame> stack;  // explicit, as chains of nodes may be long
  const auto enter = [&](const Value& result) {
    Node* node = result.producer;
    if (node == nullptr || ends.contains(&result) || !seen.insert(node).second) return;
    budget.step(gradient);
    std::vector<const Value*> operands;
    for_each_operand(*node, [&](const Value* operand) { operands.push_back(operand); });
    stack.push_back({node, std::move(operands)});
  };
  for (const Value* value : values) {
    enter(*value);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.operands.empty()) {
        order.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      const Value* next = frame.operands.back();
      frame.operands.pop_back();
      enter(*next);
    }
  }
  return order;
}

GradientPath find_gradient_path(const Differentiated& what, GradientBudget& budget) {
  GradientPath path;
  for (const Value* x : what.xs) path.reached_from[x] = x;
  const std::vector<Node*> dependent = dependent_nodes(what, budget, path);
  std::vector<Problem> problems;
  ValueSet differentiated(what.ys.begin(), what.ys.end());
  for (auto at = dependent.rbegin(); at != dependent.rend(); ++at) {
    Node& node = **at;
    const auto output =
        std::find_if(node.outputs.begin(), node.outputs.end(), [&](const Value* each) {
          return differentiated.contains(each) && path.reached_from.contains(each);
        });
    if (output == node.outputs.end()) continue;
    path.nodes.push_back(&node);
    for_each_operand(node, [&](const Value* value) {
      if (path.reached_from.contains(value)) differentiated.insert(value);
    });
    if (node.op->facts.is_differentiable() || goes_back_through_graphs(node)) continue;
    problems.push_back(node.problem(
        fmt::format("the operator has no gradient rule, but '{}' asks for the gradient of '{}' by "
                    "'{}', which leads through this node",
                    what.gradient.name, what.ys.front()->name, path.reached_from[*output]->name),
        "take the gradient by values behind the node, or see docs/adding_an_operator.md: "
        "Gradient"));
  }
  if (!problems.empty()) throw Error(std::move(problems));
  return path;
}

}  // namespace intarsia::converter
