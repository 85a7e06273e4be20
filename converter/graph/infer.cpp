// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "converter/graph/work.h"
#include "converter/onnx/declaration.h"
#include "converter/passes/fold.h"
#include "core/definitions/value_propagation.h"

namespace intarsia::converter {
namespace {

using definitions::Dim;
using definitions::Parameter;
using definitions::SymbolicInput;
using definitions::SymbolicShapeContext;

/// The elements as a constant if every one is known.
std::optional<Constant> constant_of(const Value& value) {
  if (!value.elements.values || !value.shape) return std::nullopt;
  std::vector<int64_t> extents, elements;
  for (int axis = 0; axis < value.shape->rank; ++axis) {
    if (!is_constant((*value.shape)[axis])) return std::nullopt;
    extents.push_back(constant_value((*value.shape)[axis]));
  }
  for (const Dim& element : *value.elements.values) {
    if (!is_constant(element)) return std::nullopt;
    elements.push_back(constant_value(element));
  }
  switch (value.type) {
    case DataType::kInt64:
      return Constant::of<int64_t>(extents, std::span<const int64_t>(elements));
    case DataType::kInt32: {
      const std::vector<int32_t> narrow(elements.begin(), elements.end());
      return Constant::of<int32_t>(extents, std::span<const int32_t>(narrow));
    }
    case DataType::kFloat: {
      // Exact: numerators fit the type, and the denominator is a power of two.
      std::vector<float> reals;
      for (int64_t element : elements) {
        reals.push_back(static_cast<float>(element) /
                        static_cast<float>(value.elements.denominator));
      }
      return Constant::of<float>(extents, std::span<const float>(reals));
    }
    case DataType::kBool: {
      std::vector<std::byte> bytes;
      for (int64_t element : elements) bytes.push_back(std::byte{element != 0});
      return Constant::own(DataType::kBool, extents, std::move(bytes));
    }
    default:
      return std::nullopt;
  }
}

/// Names of the graph inputs that a value is computed from. No recursion: chains may be long.
std::set<std::string> inputs_behind(const Value* value) {
  std::set<std::string> names;
  std::set<const Value*> seen;
  std::vector<const Value*> open{value};
  while (!open.empty()) {
    const Value* next = open.back();
    open.pop_back();
    if (next == nullptr || !seen.insert(next).second) continue;
    if (next->is_input) names.insert(next->name);
    if (next->producer == nullptr) continue;
    open.insert(open.end(), next->producer->inputs.begin(), next->producer->inputs.end());
  }
  return names;
}

std::string how_to_decide(const Value* condition) {
  std::vector<std::string> options;
  for (const std::string& name : inputs_behind(condition))
    options.push_back(fmt::format("--fix {}=VALUE", name));
  return options.empty() ? "fix the extents that decide it with --shape or --dim"
                         : fmt::format("decide the condition with {}", fmt::join(options, " or "));
}

}  // namespace

SymbolicInput symbolic_input(const Value* value) {
  SymbolicInput input;
  if (value == nullptr) return input;
  input.present = true;
  const Constant* known = known_constant(*value);
  if (known == nullptr) {
    input.type = value->type;
    input.shape = value->shape.value_or(Shape<Dim>{});
    input.values = value->elements.values;
    input.denominator = value->elements.denominator;
    return input;
  }
  const Constant& constant = *known;
  input.type = constant.type;
  for (int64_t extent : constant.extents) input.shape.push(extent);
  if (constant.count() > definitions::kMaxPropagatedElements) return input;
  if (constant.is_integer()) {
    const std::vector<int64_t> integers = constant.integers();
    input.values.emplace(integers.begin(), integers.end());
  } else if (constant.is_real()) {
    input.reals = constant.reals();
  }
  return input;
}

std::vector<SymbolicInput> symbolic_inputs(const Node& node) {
  std::vector<SymbolicInput> inputs;
  for (const Value* input : node.inputs) inputs.push_back(symbolic_input(input));
  return inputs;
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
    if (value != options_.probe.end()) trial_[input] = value->second;
  }
  for (const Value* output : model_.graph->outputs()) {
    if (output->producer == nullptr) check_declaration(*output);
  }
  infer_graph(*model_.graph);
}

void Inference::infer_graph(Graph& graph) {
  for (Node* node : graph.node_list()) visit(node);
}

void Inference::visit(Node* node) {
  if (!node->graphs.empty()) {
    visit_if(node);
    return;
  }
  infer_outputs(*node);
  execute_if_constant(*node);
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
                                   value->name, parameter->name, data_type_name(type))));
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

void Inference::infer_outputs(Node& node) try {
  check_types(node);
  if (node.op->infer == nullptr) return;
  const std::vector<SymbolicInput> inputs = symbolic_inputs(node);
  SymbolicShapeContext context(inputs, static_cast<int>(node.outputs.size()), node.attribute_bytes);
  // An operator whose definition executes code can refuse what the model declares before it does.
  for (size_t i = 0; node.op->extents_vary && i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr) continue;
    static_cast<void>(context.set_output_type(static_cast<int>(i), node.outputs[i]->type));
  }
  if (Status status = node.op->infer(context); !status) {
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
    if (node.op->result_type != DataType::kUndefined && i == 0) output->type = node.op->result_type;
    if (output->type == DataType::kUndefined || !inferred.has_shape) {
      throw Error(
          node.problem(fmt::format("the {} of output {} cannot be inferred",
                                   output->type == DataType::kUndefined ? "type" : "rank", i)));
    }
    apply_bounds(*output);
  }
  if (!trial_.empty()) bound_by_trial(node);
  const auto elements =
      definitions::propagate_values(*node.op, node.attribute_bytes.data(), inputs, outputs);
  for (size_t i = 0; i < elements.size() && i < node.outputs.size(); ++i) {
    if (node.outputs[i] != nullptr) node.outputs[i]->elements = elements[i];
  }
} catch (const definitions::DimError& error) {
  throw Error(node.problem(error.what(), "fix symbolic dimensions with --shape or --dim"));
}

/// True if executing a node stays within the limits; takes its cost off them.
bool Inference::afford(const Node& node, const std::vector<const Constant*>& inputs,
                       const std::vector<OutputPlan>& outputs, bool by_values) {
  int64_t bytes = 0;
  for (const OutputPlan& output : outputs) {
    const int64_t size = output.present ? checked_byte_size(output.type, output.extents) : 0;
    if (size < 0 || size > left_.bytes - bytes) return false;
    bytes += size;
  }
  const double steps = work_of(node, inputs, outputs, by_values);
  if (steps > left_.steps) return false;
  left_.bytes -= bytes;
  left_.steps -= steps;
  return true;
}

/// The extents that the model declares; an axis of which it says nothing is that of the shape
/// function, or open.
Shape<Dim> Inference::declared_shape(const Value& value,
                                     const definitions::SymbolicOutput& inferred) const {
  Shape<Dim> shape;
  for (const DeclaredExtent& extent : *value.declared) {
    Dim dim = Dim::unknown(0);
    if (inferred.has_shape && inferred.shape.rank == static_cast<int>(value.declared->size())) {
      dim = inferred.shape[shape.rank];
    }
    if (extent.value >= 0) dim = extent.value;
    for (int i = 0; i < model_.symbols->size() && !extent.symbol.empty(); ++i) {
      if ((*model_.symbols)[i].name == extent.symbol) dim = model_.symbols->dim(i);
    }
    shape.push(dim);
  }
  return shape;
}

/// Completes the outputs of an operator whose extents only its kernel can tell: what the model
/// declares, else what the shape function says, else `--bound`, else a trial execution.
void Inference::settle_open_extents(const Node& node, const std::vector<SymbolicInput>& inputs,
                                    std::vector<definitions::SymbolicOutput>& outputs) const {
  const auto is_open = [](const definitions::SymbolicOutput& output) {
    bool open = !output.has_shape;
    for (int axis = 0; axis < output.shape.rank; ++axis) {
      open = open || output.shape[axis].upper() == definitions::kInfinite;
    }
    return open;
  };
  std::vector<definitions::SymbolicOutput> tried;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* value = node.outputs[i];
    definitions::SymbolicOutput& output = outputs[i];
    if (value == nullptr) continue;
    if (output.type == DataType::kUndefined) output.type = value->type;
    if (value->declared && value->declared->size() <= static_cast<size_t>(kMaxRank)) {
      output.shape = declared_shape(*value, output);
      output.has_shape = true;
    }
    const auto bound = options_.bounds.find(value->name);
    if (!output.has_shape && bound != options_.bounds.end()) {
      for (int64_t limit : bound->second) output.shape.push(Dim::unknown(0, limit));
      output.has_shape = true;
    }
    if (!is_open(output) || bound != options_.bounds.end()) continue;
    if (node.op->trial && tried.empty()) {
      SymbolicShapeContext context(inputs, static_cast<int>(outputs.size()), node.attribute_bytes);
      if (Status status = node.op->trial(context); !status) {
        throw Error(
            node.problem("its trial execution on zeros failed: " + context.text(),
                         fmt::format("declare the extents with --bound {}=EXTENTS", value->name)));
      }
      tried = context.outputs();
    }
    if (!tried.empty() && tried[i].has_shape) {
      if (!output.has_shape) output.shape = tried[i].shape;
      if (output.type == DataType::kUndefined) output.type = tried[i].type;
      for (int axis = 0; axis < output.shape.rank && axis < tried[i].shape.rank; ++axis) {
        if (output.shape[axis].upper() == definitions::kInfinite) {
          output.shape[axis] = tried[i].shape[axis];
        }
      }
      output.has_shape = true;
    }
    if (!is_open(output)) continue;
    std::string hint = fmt::format("declare them with --bound {}=EXTENTS", value->name);
    if (!node.op->extents_hint.empty()) hint += fmt::format(", or {}", node.op->extents_hint);
    throw Error(node.problem(
        fmt::format(
            "the extents of output {} ('{}') are not known: the model does not declare them "
            "and the operator's shape function cannot tell",
            i, value->name),
        std::move(hint)));
  }
}

/// Executes a node on the values of the trial, if all of them are known.
void Inference::try_node(const Node& node) {
  std::vector<const Constant*> inputs;
  std::vector<SymbolicInput> symbolic;
  for (const Value* input : node.inputs) {
    const Constant* constant = nullptr;
    if (input != nullptr) {
      const auto known = trial_.find(input);
      constant = known_constant(*input);
      if (constant == nullptr && known == trial_.end()) return;
      if (constant == nullptr) constant = &known->second;
    }
    inputs.push_back(constant);
    Value as_constant;
    if (constant != nullptr) as_constant.constant = *constant;
    symbolic.push_back(symbolic_input(constant != nullptr ? &as_constant : nullptr));
  }
  SymbolicShapeContext context(symbolic, static_cast<int>(node.outputs.size()),
                               node.attribute_bytes);
  if (!node.op->infer(context)) return;
  std::vector<OutputPlan> outputs;
  bool by_values = false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    OutputPlan plan;
    if (node.outputs[i] != nullptr) {
      plan = {true, node.outputs[i]->type, {}};
      const definitions::SymbolicOutput& inferred = context.outputs()[i];
      const Shape<Dim>& shape = inferred.has_shape ? inferred.shape : *node.outputs[i]->shape;
      for (int axis = 0; axis < shape.rank; ++axis) {
        if (shape[axis].upper() == definitions::kInfinite) return;
        by_values = by_values || !is_constant(shape[axis]);
        plan.extents.push_back(shape[axis].upper());
      }
    }
    outputs.push_back(std::move(plan));
  }
  if (!afford(node, inputs, outputs, by_values)) return;
  try {
    std::vector<Constant> results = evaluate(node, inputs, outputs, rows_, options_.services);
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i] != nullptr) trial_[node.outputs[i]] = std::move(results[i]);
    }
  } catch (const Error&) {
    // A branch that is not taken may fail on these values; it then has no bounds from the trial.
  }
}

void Inference::bound_by_trial(const Node& node) {
  try_node(node);
  for (Value* output : node.outputs) {
    if (output == nullptr) continue;
    const auto known = trial_.find(output);
    if (known == trial_.end() || known->second.rank() != output->shape->rank) continue;
    for (int axis = 0; axis < output->shape->rank; ++axis) {
      Dim& extent = (*output->shape)[axis];
      const int64_t found = known->second.extents[static_cast<size_t>(axis)];
      if (extent.upper() == definitions::kInfinite) extent = Dim::unknown(0, found);
    }
  }
}

/// The result of an If in the trial is that of the branch which the trial takes.
void Inference::join_trials(const Node& node) {
  const auto condition = trial_.find(node.input(0));
  if (condition == trial_.end() || condition->second.count() != 1) return;
  const Graph& taken = *node.graphs[condition->second.integer(0) != 0 ? 0 : 1].graph;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* result = taken.outputs()[i];
    const auto known = trial_.find(result);
    if (node.outputs[i] == nullptr) continue;
    if (const Constant* constant = known_constant(*result)) {
      trial_[node.outputs[i]] = Constant(*constant);
    } else if (known != trial_.end()) {
      trial_[node.outputs[i]] = Constant(known->second);
    }
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

/// Finds the elements of results that depend on constants or extents alone.
void Inference::execute_if_constant(Node& node) {
  if (node.op->impure || node.op->infer == nullptr) return;
  std::vector<const Constant*> inputs;
  for (const Value* input : node.inputs) {
    inputs.push_back(input != nullptr ? known_constant(*input) : nullptr);
    if (input == nullptr || inputs.back() != nullptr) continue;
    for (Value* output : node.outputs) {
      if (output != nullptr) output->known = constant_of(*output);
    }
    return;
  }
  std::vector<OutputPlan> outputs;
  bool by_values = false;
  for (const Value* output : node.outputs) {
    OutputPlan plan;
    if (output != nullptr) {
      plan.present = true;
      plan.type = output->type;
      for (int axis = 0; axis < output->shape->rank; ++axis) {
        const int64_t upper = (*output->shape)[axis].upper();
        if (upper == definitions::kInfinite) return;
        by_values = by_values || !is_constant((*output->shape)[axis]);
        plan.extents.push_back(std::max<int64_t>(0, upper));
      }
      // Strings and other types without kernels stay nodes and are reported as such.
      if (element_bits(plan.type) == 0) return;
    }
    outputs.push_back(std::move(plan));
  }
  if (!afford(node, inputs, outputs, by_values)) return;
  std::vector<Constant> results;
  try {
    results = evaluate(node, inputs, outputs, rows_, options_.services);
  } catch (const Error& error) {
    throw ContradictionError(error.problems());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Value* output = node.outputs[i];
    if (output == nullptr) continue;
    // Extents that depend on values are those of the constant; the node does not know them.
    const bool exact = !varies(*output);
    output->known = results[i];
    if (!exact) become_constant(node, i, std::move(results[i]));
  }
}

void Inference::visit_if(Node* node) {
  check_types(*node);
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
  infer_branches(node);
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

void Inference::infer_branches(Node* node) {
  std::vector<std::string> contradictions(node->graphs.size());
  std::vector<Problem> problems;
  for (size_t i = 0; i < node->graphs.size(); ++i) {
    try {
      infer_graph(*node->graphs[i].graph);
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
  if (first.outputs().size() != node->outputs.size() ||
      second.outputs().size() != node->outputs.size()) {
    throw Error(node->problem(fmt::format("has {} outputs, its branches have {} and {}",
                                          node->outputs.size(), first.outputs().size(),
                                          second.outputs().size())));
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
    const Shape<Dim> left = shape_of(a), right = shape_of(b);
    if (left.rank != right.rank) {
      throw Error(node->problem(
          fmt::format("output {} has rank {} in one branch ({}) and rank {} in the other ({}), and "
                      "the condition is not known at conversion",
                      i, left.rank, shape_text(left), right.rank, shape_text(right)),
          how_to_decide(node->input(0))));
    }
    Shape<Dim> joined;
    for (int axis = 0; axis < left.rank; ++axis) {
      joined.push(left[axis] == right[axis]
                      ? left[axis]
                      : Dim::unknown(std::min(left[axis].lower(), right[axis].lower()),
                                     std::max(left[axis].upper(), right[axis].upper())));
    }
    output->type = type_of(a);
    output->shape = joined;
  }
  if (!trial_.empty()) join_trials(*node);
}

}  // namespace intarsia::converter
