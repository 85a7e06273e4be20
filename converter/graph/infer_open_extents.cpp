// SPDX-License-Identifier: Apache-2.0
//
// Extents that shape functions leave open: what the model declares, `--bound`, the execution of a
// node on zeros, and the trial execution of the model.
#include <fmt/format.h>

#include "converter/graph/infer.h"
#include "converter/passes/fold.h"

namespace intarsia::converter {

using definitions::Dim;
using definitions::SymbolicInput;
using definitions::SymbolicShapeContext;

namespace {

/// Refuses a declaration that the shape function contradicts: it says another rank, or less than
/// what would be the exact extent.
void check_declared(const Node& node, const Value& value,
                    const definitions::SymbolicOutput& inferred) {
  if (!inferred.has_shape) return;
  const std::vector<DeclaredExtent>& declared = *value.declared;
  bool agrees = static_cast<int>(declared.size()) == inferred.shape.rank;
  std::string text;
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    const int64_t extent = declared[axis].value;
    agrees = agrees && (extent < 0 || extent <= inferred.shape[static_cast<int>(axis)].upper());
    text += fmt::format("{}{}", axis == 0 ? "" : ",", extent < 0 ? "?" : std::to_string(extent));
  }
  if (agrees) return;
  std::string most;
  for (int axis = 0; axis < inferred.shape.rank; ++axis) {
    const int64_t upper = inferred.shape[axis].upper();
    most += fmt::format("{}{}", axis == 0 ? "" : ",",
                        upper == definitions::kInfinite ? "?" : std::to_string(upper));
  }
  throw Error(node.problem(
      fmt::format("'{}' is declared as [{}], but is at most [{}]", value.name, text, most),
      "the model is invalid; export it again, or correct the declaration"));
}

/// What the model says of an output whose extents it does not bound.
std::string what_is_declared(const Value& value) {
  if (!value.declared) return "the model does not declare them";
  std::string text;
  for (const DeclaredExtent& extent : *value.declared) {
    text += text.empty() ? "" : ",";
    text += extent.value >= 0       ? std::to_string(extent.value)
            : extent.symbol.empty() ? "?"
                                    : extent.symbol;
  }
  return fmt::format("the model declares [{}], without a bound,", text);
}

}  // namespace

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
  const auto is_open = [](const definitions::SymbolicOutput& output,
                          const std::vector<int64_t>* bound) {
    bool open = !output.has_shape;
    for (int axis = 0; axis < output.shape.rank; ++axis) {
      const auto place = static_cast<size_t>(axis);
      const bool bounded =
          bound != nullptr && place < bound->size() && (*bound)[place] != definitions::kInfinite;
      open = open || (!bounded && output.shape[axis].upper() == definitions::kInfinite);
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
      check_declared(node, *value, output);
      output.shape = declared_shape(*value, output);
      output.has_shape = true;
    }
    const auto found = options_.bounds.find(value->name);
    const auto* bound = found != options_.bounds.end() ? &found->second : nullptr;
    if (!output.has_shape && bound != nullptr) {
      for (int64_t limit : *bound) output.shape.push(Dim::unknown(0, limit));
      output.has_shape = true;
    }
    if (!is_open(output, bound)) continue;
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
    if (!is_open(output, bound)) continue;
    std::string hint = fmt::format("declare them with --bound {}=EXTENTS", value->name);
    for (const DeclaredExtent& extent : value->declared.value_or(std::vector<DeclaredExtent>())) {
      if (!extent.symbol.empty()) hint += fmt::format(" or --dim {}=MAX", extent.symbol);
    }
    if (!node.op->extents_hint.empty()) hint += fmt::format(", or {}", node.op->extents_hint);
    throw Error(node.problem(
        fmt::format("the extents of output {} ('{}') are not known: {} and the operator's shape "
                    "function cannot tell",
                    i, value->name, what_is_declared(*value)),
        std::move(hint)));
  }
}

const Constant* Inference::tried(const Value* value) const {
  if (const Constant* constant = known_constant(*value)) return constant;
  return value->trial.value ? &*value->trial.value : nullptr;
}

/// The most that is tried for an extent without a bound.
constexpr int64_t kMostRoom = 65536;

/// Executes a node on the values of the trial, if all of them are known. Returns whether it did.
bool Inference::try_node(const Node& node) {
  std::vector<const Constant*> inputs;
  std::vector<SymbolicInput> symbolic;
  for (const Value* input : node.inputs) {
    const Constant* constant = nullptr;
    if (input != nullptr) {
      constant = tried(input);
      if (constant == nullptr) return false;
    }
    inputs.push_back(constant);
    Value as_constant;
    if (constant != nullptr) as_constant.constant = *constant;
    symbolic.push_back(symbolic_input(constant != nullptr ? &as_constant : nullptr));
  }
  SymbolicShapeContext context(symbolic, static_cast<int>(node.outputs.size()),
                               node.attribute_bytes);
  if (!node.op->infer(context)) return false;
  // Where the shape function knows no bound, the kernel gets more and more room.
  for (int64_t room = 16; room <= kMostRoom; room *= 16) {
    bool by_values = false, open = false;
    std::vector<OutputPlan> outputs;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      OutputPlan plan;
      if (node.outputs[i] != nullptr) {
        plan = {true, node.outputs[i]->type, {}};
        const definitions::SymbolicOutput& inferred = context.outputs()[i];
        const Shape<Dim>& shape = inferred.has_shape ? inferred.shape : *node.outputs[i]->shape;
        for (int axis = 0; axis < shape.rank; ++axis) {
          const bool infinite = shape[axis].upper() == definitions::kInfinite;
          open = open || infinite;
          by_values = by_values || !is_constant(shape[axis]);
          plan.extents.push_back(infinite ? room : shape[axis].upper());
        }
      }
      outputs.push_back(std::move(plan));
    }
    if (!afford(node, inputs, outputs, by_values)) return false;
    try {
      std::vector<Constant> results = evaluate(node, inputs, outputs, rows_, options_.services);
      for (size_t i = 0; i < results.size(); ++i) {
        if (node.outputs[i] != nullptr) node.outputs[i]->trial.value = std::move(results[i]);
      }
      return true;
    } catch (const Error&) {
      // A branch that is not taken may fail on these values; it then has no bounds from the trial.
      if (!open) return false;
    }
  }
  return false;
}

void Inference::bound_by_trial(const Node& node) {
  static_cast<void>(try_node(node));
  for (Value* output : node.outputs) {
    if (output == nullptr) continue;
    const Trial& trial = output->trial;
    if (!trial.value && !trial.largest) continue;
    const std::vector<int64_t>& largest = trial.largest ? *trial.largest : trial.value->extents;
    if (static_cast<int>(largest.size()) != output->shape->rank) continue;
    for (int axis = 0; axis < output->shape->rank; ++axis) {
      Dim& extent = (*output->shape)[axis];
      const int64_t found = largest[static_cast<size_t>(axis)];
      if (extent.upper() == definitions::kInfinite) extent = Dim::unknown(0, found);
    }
  }
}

}  // namespace intarsia::converter
