// SPDX-License-Identifier: Apache-2.0
#include "test/random/execute.h"

#include <algorithm>

#include "converter/graph/evaluate.h"
#include "converter/graph/infer.h"
#include "core/definitions/value_propagation.h"
#include "test/random/expanded_node.h"

namespace intarsia::test {

using definitions::SymbolicInput;
using definitions::SymbolicOutput;

namespace {

/// The largest of the extents that no shape rule bounds.
constexpr int64_t kMostOpen = 24;

/// Sets `definition.result_type`, and bounds extents that only values tell.
std::optional<OutputBounds> settle_outputs(const Candidate& candidate,
                                           std::vector<SymbolicOutput>& outputs, int64_t most) {
  OutputBounds bounds(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!candidate.outputs[i]) continue;
    SymbolicOutput& output = outputs[i];
    if (i == 0 && candidate.op->result_type != DataType::kUndefined) {
      output.type = candidate.op->result_type;
    }
    if (!output.has_shape || element_bits(output.type) == 0) return std::nullopt;
    int64_t count = 1;
    bool open = false;
    for (int axis = 0; axis < output.shape.rank; ++axis) {
      Dim& extent = output.shape[axis];
      if (extent.upper() == definitions::kInfinite) {
        open = true;
        extent = Dim::unknown(std::max<int64_t>(0, extent.lower()), kMostOpen);
      }
      const int64_t upper = std::max<int64_t>(0, extent.upper());
      if (upper > most) return std::nullopt;
      count *= upper;
      if (count > most) return std::nullopt;
      bounds[i].push_back(upper);
    }
    if (!open) bounds[i].clear();
  }
  return bounds;
}

std::vector<SymbolicInput> results_seen(const Candidate& candidate,
                                        const std::vector<SymbolicInput>& inputs,
                                        const std::vector<SymbolicOutput>& outputs) {
  const auto elements =
      definitions::propagate_values(*candidate.op, candidate.blob.data(), inputs, outputs);
  std::vector<SymbolicInput> seen(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    seen[i].present = candidate.outputs[i];
    seen[i].type = outputs[i].type;
    seen[i].shape = outputs[i].shape;
    seen[i].sequence = outputs[i].sequence;
    if (i >= elements.size()) continue;
    seen[i].values = elements[i].values;
    seen[i].denominator = elements[i].denominator;
  }
  return seen;
}

}  // namespace

SymbolicInput known_input(const Constant& constant) {
  converter::Value value;
  value.constant = constant;
  return converter::symbolic_input(&value);
}

std::optional<Inferred> infer(Candidate& candidate, std::span<const RandomTensor* const> operands,
                              const definitions::SymbolTable& symbols, int64_t most,
                              const converter::OperatorLibrary& library, Diagnostic* refusal) {
  Inferred inferred;
  std::vector<SymbolicInput> inputs;
  for (const RandomTensor* operand : operands) {
    inputs.push_back(operand != nullptr ? operand->seen : SymbolicInput());
  }
  const definitions::Facts& facts = candidate.op->facts;
  candidate.expanded = nullptr;
  if (facts.expand != nullptr ||
      (facts.special.holds != nullptr && facts.special.holds(candidate.blob.data(), inputs))) {
    candidate.expanded = ExpandedNode::make(candidate, operands, symbols, library, refusal);
    if (candidate.expanded == nullptr) return std::nullopt;
    inferred.outputs = candidate.expanded->outputs();
    inferred.seen = candidate.expanded->seen();
  } else {
    definitions::SymbolicShapeContext context(inputs, static_cast<int>(candidate.outputs.size()),
                                              candidate.blob);
    try {
      if (!candidate.op->infer(context)) {
        if (refusal != nullptr) *refusal = context.diagnostic();
        return std::nullopt;
      }
    } catch (const definitions::DimError&) {
      return std::nullopt;
    }
    inferred.outputs = context.outputs();
  }
  auto bounds = settle_outputs(candidate, inferred.outputs, most);
  if (!bounds) return std::nullopt;
  inferred.bounds = std::move(*bounds);
  if (candidate.expanded == nullptr) {
    inferred.seen = results_seen(candidate, inputs, inferred.outputs);
  } else if (std::ranges::any_of(inferred.bounds, [](const auto& each) { return !each.empty(); })) {
    return std::nullopt;  // the nodes that a bound would have to name are not the model's
  }
  return inferred;
}

std::optional<std::vector<Constant>> execute(const Candidate& candidate,
                                             std::span<const Constant* const> inputs,
                                             const converter::OperatorLibrary& library) {
  constexpr int64_t kMost = 1 << 16;
  std::vector<SymbolicInput> symbolic;
  for (const Constant* input : inputs) {
    symbolic.push_back(input != nullptr ? known_input(*input) : SymbolicInput());
  }
  definitions::SymbolicShapeContext context(symbolic, static_cast<int>(candidate.outputs.size()),
                                            candidate.blob);
  if (!candidate.op->infer(context)) return std::nullopt;
  std::vector<SymbolicOutput> outputs = context.outputs();
  if (!settle_outputs(candidate, outputs, kMost)) return std::nullopt;

  converter::Graph graph;
  std::vector<converter::Value*> values;
  for (const Constant* input : inputs) {
    values.push_back(input != nullptr ? graph.add_value("x") : nullptr);
    if (input != nullptr) values.back()->type = input->type;
  }
  converter::Node* node = graph.add_node(candidate.op->domain, candidate.op->name, "node", values,
                                         static_cast<int>(outputs.size()));
  node->op = candidate.op;
  node->attribute_bytes = candidate.blob;
  std::vector<converter::OutputPlan> plans(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    node->outputs[i]->type = outputs[i].type;
    if (!candidate.outputs[i]) continue;
    plans[i] = {true, outputs[i].type, {}};
    for (int axis = 0; axis < outputs[i].shape.rank; ++axis) {
      plans[i].extents.push_back(std::max<int64_t>(0, outputs[i].shape[axis].upper()));
    }
  }
  try {
    return converter::evaluate(*node, {inputs.begin(), inputs.end()}, plans, library.rows(),
                               library.services());
  } catch (const converter::Error&) {
    return std::nullopt;
  }
}

}  // namespace intarsia::test
