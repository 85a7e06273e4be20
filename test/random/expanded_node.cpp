// SPDX-License-Identifier: Apache-2.0
#include "test/random/expanded_node.h"

#include <unordered_map>

#include "converter/graph/infer.h"
#include "test/random/values.h"

namespace intarsia::test {

using converter::Node;
using converter::Value;

std::shared_ptr<const ExpandedNode> ExpandedNode::make(
    const Candidate& candidate, std::span<const RandomTensor* const> operands,
    const definitions::SymbolTable& symbols, const converter::OperatorLibrary& library,
    Diagnostic* refusal) {
  auto expanded = std::make_shared<ExpandedNode>();
  converter::Model& model = expanded->model_;
  model.symbols = std::make_shared<definitions::SymbolTable>();
  for (int i = 0; i < symbols.size(); ++i) {
    model.symbols->add(symbols[i].name, symbols[i].min, symbols[i].max);
  }
  model.operators = &library.operators();
  model.graph = std::make_shared<converter::Graph>();
  converter::Graph& graph = *model.graph;
  for (const RandomTensor* operand : operands) {
    Value*& value = expanded->inputs_.emplace_back(nullptr);
    if (operand == nullptr) continue;
    if (operand->kind == RandomTensor::kConstant) {
      value = graph.add_constant(graph.unique_name("x"), operand->values.front());
    } else {
      value = graph.add_input(graph.unique_name("x"));
      value->shape = operand->seen.shape;
      value->elements = {operand->seen.values, operand->seen.denominator};
      value->sequence = operand->seen.sequence;
    }
    value->type = operand->type;
  }
  std::vector<Value*> results;
  for (const bool wanted : candidate.outputs) {
    results.push_back(wanted ? graph.add_value(graph.unique_name("y")) : nullptr);
  }
  Node* node = graph.add_node_for(candidate.op->domain, candidate.op->name, "node",
                                  expanded->inputs_, results);
  node->attributes = candidate.attributes;
  if (!node->resolve_as(*candidate.op).empty()) return nullptr;
  for (Value* result : results) {
    if (result != nullptr) graph.add_output(result);
    expanded->outputs_.push_back(result != nullptr ? static_cast<int>(graph.outputs().size()) - 1
                                                   : -1);
  }
  try {
    converter::InferenceOptions options;
    options.services = library.services();
    converter::Inference(model, library.rows(), std::move(options)).run();
  } catch (const converter::ExtentError& error) {
    if (refusal != nullptr) *refusal = error.diagnostic();
    return nullptr;
  } catch (const converter::Error&) {
    return nullptr;
  } catch (const definitions::DimError&) {
    return nullptr;
  }
  return expanded;
}

std::vector<definitions::SymbolicInput> ExpandedNode::seen() const {
  std::vector<definitions::SymbolicInput> seen;
  for (const int output : outputs_) {
    const Value* value =
        output >= 0 ? model_.graph->outputs()[static_cast<size_t>(output)] : nullptr;
    seen.push_back(converter::symbolic_input(value));
  }
  return seen;
}

std::vector<definitions::SymbolicOutput> ExpandedNode::outputs() const {
  std::vector<definitions::SymbolicOutput> outputs;
  for (const definitions::SymbolicInput& result : seen()) {
    outputs.push_back({result.type, result.shape, true, result.sequence});
  }
  return outputs;
}

std::optional<Results> ExpandedNode::execute(std::span<const Constant* const> inputs,
                                             std::span<const double> input_errors,
                                             const converter::OperatorLibrary& library,
                                             Random& random) const {
  struct Known {
    Constant value;
    double error = 0;
  };
  std::unordered_map<const Value*, Known> known;
  for (const auto& value : model_.graph->values()) {
    if (value->constant) {
      known[value.get()] = {*value->constant};
    } else if (value->known && !is_rounded(value->type)) {
      known[value.get()] = {*value->known};  // whatever was rounded on the way
    }
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] != nullptr) known[inputs_[i]] = {*inputs[i], input_errors[i]};
  }
  for (const auto& node : model_.graph->nodes()) {
    if (node->op->facts.rounds_within || !node->graphs.empty()) return std::nullopt;
    Candidate candidate{node->op, node->attributes, node->attribute_bytes, {}};
    bool open = false;
    for (const Value* output : node->outputs) {
      candidate.outputs.push_back(output != nullptr);
      open = open || (output != nullptr && !known.contains(output));
    }
    if (!open) continue;
    std::vector<const Constant*> operands;
    std::vector<double> errors;
    for (const Value* input : node->inputs) {
      operands.push_back(input != nullptr ? &known.at(input).value : nullptr);
      errors.push_back(input != nullptr ? known.at(input).error : 0);
    }
    auto results = execute_within(candidate, operands, errors, library, random);
    if (!results) return std::nullopt;
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      if (node->outputs[i] == nullptr) continue;
      known[node->outputs[i]] = {std::move(results->values[i]), results->errors[i]};
    }
  }
  Results results;
  for (const int output : outputs_) {
    const Value* value =
        output >= 0 ? model_.graph->outputs()[static_cast<size_t>(output)] : nullptr;
    results.values.push_back(value != nullptr ? known.at(value).value : Constant());
    results.errors.push_back(value != nullptr ? known.at(value).error : 0);
  }
  return results;
}

}  // namespace intarsia::test
