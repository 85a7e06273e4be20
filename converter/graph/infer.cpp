// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "converter/graph/undecided.h"
#include "converter/onnx/declaration.h"
#include "core/definitions/value_propagation.h"

namespace intarsia::converter {

using definitions::Dim;
using definitions::Parameter;
using definitions::SymbolicInput;
using definitions::SymbolicShapeContext;

namespace {

/// True of what a run may never reach; what cannot be decided there is a contradiction.
bool is_in_branch(const Node& node) {
  for (const Graph* at = node.graph; at->owner() != nullptr; at = at->owner()->graph) {
    if (at->owner()->op->control == definitions::Control::kBranches) return true;
  }
  return false;
}

/// "float, double".
std::string types_text(definitions::TypeSet set) {
  std::string text;
  for (int code = 1; code <= kLastDataType; ++code) {
    const auto type = static_cast<DataType>(code);
    if (!definitions::contains(set, type)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", data_type_name(type));
  }
  return text;
}

/// True if extents of the value are known by the values of others only.
bool follows_from_values(const Value& value) {
  const Shape<Dim> shape = shape_of(value);
  return std::any_of(shape.extents, shape.extents + shape.rank,
                     [](const Dim& extent) { return extent.has_unknown(); });
}

}  // namespace

bool same_extents(const Value& a, const Value& b) {
  for (const Value* value : {&a, &b}) {
    if (!value->constant && !value->shape) return false;
  }
  const Shape<Dim> left = shape_of(a), right = shape_of(b);
  return std::equal(left.extents, left.extents + left.rank, right.extents,
                    right.extents + right.rank);
}

void Inference::run() {
  left_ = options_.limits;
  std::set<const std::byte*> counted;  // values share constants
  for_each_value(*model_.graph, [&](const Value& value) {
    if (!value.constant || !counted.insert(value.constant->data.get()).second) return;
    left_.bytes += 8 * static_cast<int64_t>(value.constant->size);
  });
  for (const Value* input : model_.graph->inputs()) {
    const auto value = options_.probe.find(input->name);
    if (value != options_.probe.end()) input->trial.value = value->second;
  }
  for (const Value* output : model_.graph->outputs()) {
    if (output->producer == nullptr) check_declaration(*output);
  }
  const std::vector<Node*> nodes = model_.graph->node_list();
  for (size_t i = 0; i < nodes.size(); ++i) {
    visit(nodes[i]);
    if (options_.progress != nullptr) options_.progress->step(i + 1, nodes.size());
  }
  settle_ranks(*model_.graph);
  for (const Value* output : model_.graph->outputs()) {
    std::string warning = contradicted_extents(*output);
    if (!warning.empty()) model_.warnings.push_back(std::move(warning));
  }
}

void Inference::infer_graph(Graph& graph) {
  for (Node* node : graph.node_list()) visit(node);
  settle_ranks(graph);
}

void Inference::visit(Node* node) {
  if (Node* branches = open_rank_of(*node)) {
    move_into_branches(branches, node);
    return;
  }
  if (!node->graphs.empty()) {
    switch (node->op->control) {
      case definitions::Control::kBranches:
        visit_if(node);
        break;
      case definitions::Control::kLoop:
        visit_loop(node);
        break;
      case definitions::Control::kScan:
        visit_scan(node);
        break;
      case definitions::Control::kMap:
        visit_sequence_map(node);
        break;
      case definitions::Control::kInlined:
        visit_expansion(node);
        break;
    }
    return;
  }
  if (compute_in_others(*node) || take_members(*node)) return;
  const definitions::Facts& facts = node->op->facts;
  const bool special = facts.special.holds != nullptr &&
                       facts.special.holds(node->attribute_bytes.data(), symbolic_inputs(*node));
  if (facts.expand != nullptr || special) {
    visit_expansion(node);
    return;
  }
  infer_and_execute(*node);
  check_declarations(*node);
}

void Inference::check_types(const Node& node) const {
  std::map<std::string_view, const Value*> bound;
  const auto check = [&](const Value* value, const Parameter* parameter) {
    if (value == nullptr || parameter == nullptr || parameter->type.empty()) return;
    const auto constraint =
        std::find_if(node.op->types.begin(), node.op->types.end(),
                     [&](const auto& row) { return row.variable == parameter->type; });
    const DataType type = type_of(*value);
    if (constraint != node.op->types.end() && !definitions::contains(constraint->allowed, type)) {
      throw Error(
          node.problem(fmt::format("'{}' ({}) has type {}, which the operator does not allow",
                                   value->name, parameter->name, data_type_name(type)),
                       fmt::format("it allows {}", types_text(constraint->allowed))));
    }
    if (parameter->kind == Parameter::kVariadic && constraint == node.op->types.end()) return;
    const auto [first, inserted] = bound.try_emplace(parameter->type, value);
    if (!inserted && type_of(*first->second) != type) {
      throw Error(node.problem(
          fmt::format("'{}' has type {} and '{}' has type {}; they must agree", first->second->name,
                      data_type_name(type_of(*first->second)), value->name, data_type_name(type))));
    }
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) check(node.inputs[i], formal(node.op->inputs, i));
}

void Inference::infer_outputs(Node& node) {
  check_types(node);
  if (node.op->infer == nullptr) return;
  const std::vector<SymbolicInput> inputs = symbolic_inputs(node);
  try {
    infer_outputs(node, inputs);
  } catch (const definitions::DimError&) {
    try {
      infer_outputs(node, shortened(inputs, *model_.symbols));
    } catch (const definitions::DimError& error) {
      throw Error(node.problem(error.what(), "fix symbolic dimensions with --shape or --dim"));
    }
  }
}

void Inference::infer_and_execute(Node& node) {
  infer_outputs(node);
  execute_if_constant(node);
}

void Inference::infer_outputs(Node& node, const std::vector<SymbolicInput>& inputs) {
  SymbolicShapeContext context(inputs, static_cast<int>(node.outputs.size()), node.attribute_bytes);
  // An operator whose definition executes code can refuse what the model declares before it does.
  for (size_t i = 0; node.op->extents_vary && i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr) continue;
    static_cast<void>(context.set_output_type(static_cast<int>(i), node.outputs[i]->type));
  }
  if (Status status = node.op->infer(context); !status) {
    const int operand = context.diagnostic().operand;
    const Value* varying = operand >= 0 ? node.input(operand) : nullptr;
    const bool form = status.code() == Code::kUnsupported || status.code() == Code::kWrongRank;
    if (form && varying != nullptr && follows_from_values(*varying) && !is_in_branch(node)) {
      throw undecided(node, context.text(), varying);
    }
    throw ContradictionError(node.problem(context.text()));
  }
  std::vector<definitions::SymbolicOutput> outputs = context.outputs();
  if (node.op->extents_vary) settle_open_extents(node, inputs, outputs);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Value* output = node.outputs[i];
    if (output == nullptr) continue;
    const definitions::SymbolicOutput& inferred = outputs[i];
    output->shape = inferred.shape;
    output->type = inferred.type;
    output->sequence = inferred.sequence;
    if (node.op->result_type != DataType::kUndefined && i == 0) output->type = node.op->result_type;
    if (output->type == DataType::kUndefined || !inferred.has_shape) {
      throw Error(
          node.problem(fmt::format("the {} of output {} cannot be inferred",
                                   output->type == DataType::kUndefined ? "type" : "rank", i)));
    }
    apply_bounds(*output);
  }
  if (tries()) bound_by_trial(node);
  const auto elements =
      definitions::propagate_values(*node.op, node.attribute_bytes.data(), inputs, outputs);
  for (size_t i = 0; i < elements.size() && i < node.outputs.size(); ++i) {
    if (node.outputs[i] != nullptr) node.outputs[i]->elements = elements[i];
  }
}

void Inference::apply_bounds(Value& value) const {
  const auto bound = options_.bounds.find(value.name);
  if (bound == options_.bounds.end()) return;
  if (static_cast<int>(bound->second.size()) != value.shape->rank) {
    throw Error(fmt::format("--bound {}: {} extents given, the tensor has rank {}", value.name,
                            bound->second.size(), value.shape->rank));
  }
  for (int axis = 0; axis < value.shape->rank; ++axis) {
    Dim& extent = (*value.shape)[axis];
    const int64_t limit = bound->second[static_cast<size_t>(axis)];
    if (extent.upper() > limit) extent = Dim::unknown(std::max<int64_t>(0, extent.lower()), limit);
  }
}

}  // namespace intarsia::converter
