// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/halves.h"
#include "converter/graph/node_extents.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace intarsia::converter {
namespace {

constexpr DataType kWide = DataType::kFloat, kHalf = DataType::kFloat16;
constexpr float kLargest = 65504;

/// Infinities and NaN stay what they are.
Float16 half_of(float value) {
  return Float16(std::isfinite(value) ? std::clamp(value, -kLargest, kLargest) : value);
}

Constant half_of(const Constant& wide) {
  const auto values = wide.as<float>();
  std::vector<Float16> halves(values.size());
  std::transform(values.begin(), values.end(), halves.begin(),
                 [](float value) { return half_of(value); });
  return Constant::of<Float16>(wide.extents, halves);
}

/// True of a single number that is not zero and would be.
bool vanishes(const Value& value) {
  if (!value.constant || value.constant->count() != 1) return false;
  const float number = value.constant->as<float>()[0];
  return number != 0 && static_cast<float>(half_of(number)) == 0;
}

class Halves {
 public:
  Halves(Graph& graph, const HalfKernels& kernels) : graph_(graph), kernels_(kernels) {}

  void run() {
    for (Node* node : graph_.node_list()) {
      if (suits(*node) && convert(*node)) continue;
      // What it computed of reals may be larger than a half can be.
      const auto real = [](const Value* value) {
        return value != nullptr && type_of(*value) == kWide;
      };
      const bool reads = std::any_of(node->inputs.begin(), node->inputs.end(), real);
      if (!reads && node->graphs.empty()) continue;
      wide_.insert(node->outputs.begin(), node->outputs.end());
    }
  }

 private:
  /// The type variable of the first output, with which inputs and outputs become halves.
  static std::string_view variable(const Node& node) { return node.op->outputs[0].type; }
  static bool belongs(const Node& node, const std::vector<definitions::Parameter>& parameters,
                      const std::vector<Value*>& values, size_t index) {
    const definitions::Parameter* parameter = definitions::formal(parameters, index);
    return values[index] != nullptr && parameter != nullptr && parameter->type == variable(node) &&
           type_of(*values[index]) == kWide;
  }

  /// True of a reduction that does not choose among elements: of many it makes numbers that no half
  /// can be.
  static bool sums(const Node& node) {
    if (node.op == nullptr || node.op->outputs.empty()) return false;
    return node.op->outputs[0].axes == definitions::AxisRole::kDropped && !node.op->view &&
           !node.op->facts.selects;
  }
  /// True of a constant that has more than one element along two axes at least.
  static bool is_matrix(const Value& value) {
    if (!value.constant) return false;
    const auto& extents = value.constant->extents;
    return std::count_if(extents.begin(), extents.end(), [](int64_t e) { return e > 1; }) > 1;
  }

  bool suits(const Node& node) const {
    if (node.op == nullptr || !node.graphs.empty() || node.op->impure) return false;
    if (node.op->result_type != DataType::kUndefined || node.op->outputs.empty()) return false;
    if (node.output(0) == nullptr || !belongs(node, node.op->outputs, node.outputs, 0)) {
      return false;
    }
    const auto allows = [&](const definitions::TypeConstraint& constraint) {
      return constraint.variable == variable(node) &&
             definitions::contains(constraint.allowed, kHalf);
    };
    if (std::none_of(node.op->types.begin(), node.op->types.end(), allows)) return false;
    if (sums(node)) return false;
    const auto& uses = node.outputs[0]->uses;
    const auto is_summed = [](const Use& use) { return use.node != nullptr && sums(*use.node); };
    if (!uses.empty() && std::all_of(uses.begin(), uses.end(), is_summed)) return false;
    bool any = false, wide = false, weights = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!belongs(node, node.op->inputs, node.inputs, i)) continue;
      if (vanishes(*node.inputs[i])) return false;
      any = true;
      wide = wide || wide_.count(node.inputs[i]) != 0;
      weights = weights || is_matrix(*node.inputs[i]);
    }
    if (wide && (!weights || node.op->facts.element_wise)) return false;
    // What varies is no affair of a device.
    const auto fixed = [](const Value* value) { return value == nullptr || !varies(*value); };
    return any && (kernels_.choice.device == KernelDevice::kHost ||
                   (std::all_of(node.inputs.begin(), node.inputs.end(), fixed) &&
                    std::all_of(node.outputs.begin(), node.outputs.end(), fixed)));
  }

  /// False if there is no kernel; then nothing has changed.
  bool convert(Node& node) {
    const std::vector<Value*> inputs = node.inputs;
    std::vector<Value*> outputs;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (belongs(node, node.op->outputs, node.outputs, i)) outputs.push_back(node.outputs[i]);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!belongs(node, node.op->inputs, inputs, i)) continue;
      node.set_input(static_cast<int>(i), half(*inputs[i], node));
    }
    for (Value* output : outputs) output->type = kHalf;
    NodeExtents extents(node);
    if (select_kernel(node, extents, *kernels_.rows, kernels_.choice) != nullptr) {
      for (Value* output : outputs) widen(*output, node);
      return true;
    }
    for (Value* output : outputs) output->type = kWide;
    for (size_t i = 0; i < inputs.size(); ++i) node.set_input(static_cast<int>(i), inputs[i]);
    return false;
  }

  /// The value in float16: a constant of its own, what a node that was converted has made, or the
  /// result of a Cast in front of `reader`, which is the first one.
  Value* half(Value& wide, Node& reader) {
    Value*& made = halves_[&wide];
    if (made != nullptr) return made;
    if (wide.constant) {
      made = graph_.add_constant(graph_.unique_name(wide.name + "_half"), half_of(*wide.constant));
      made->type = kHalf;
      made->shape = wide.shape;
    } else {
      made = cast(wide, kHalf, "_half", &reader);
    }
    return made;
  }

  /// Lets all that read the result of a node that was converted read it in float32, until they are
  /// converted themselves.
  void widen(Value& result, Node& node) {
    const auto next = std::next(node.self);
    Value* wide =
        cast(result, kWide, "_wide", next != graph_.nodes().end() ? next->get() : nullptr);
    Graph::replace_uses_if(&result, wide,
                           [wide](const Use& use) { return use.node != wide->producer; });
    halves_[wide] = &result;
  }

  Value* cast(Value& value, DataType type, const char* suffix, Node* before) {
    Value* const inputs[] = {&value};
    Node* node =
        graph_.add_node("", "Cast", graph_.unique_name(value.name + suffix), inputs, 1, before);
    node->attributes["to"] = static_cast<int64_t>(type);
    const auto* definition = definitions::OperatorRegistry::builtin().find("", "Cast");
    if (const std::string error = node->resolve_as(*definition); !error.empty()) {
      throw Error(node->problem(error));
    }
    node->outputs[0]->type = type;
    node->outputs[0]->shape = value.shape;
    return node->outputs[0];
  }

  Graph& graph_;
  const HalfKernels& kernels_;
  std::unordered_map<const Value*, Value*> halves_;
  std::unordered_set<const Value*> wide_;  // that nodes have computed in float32
};

}  // namespace

void use_halves(Graph& graph, const HalfKernels& kernels) {
  Halves(graph, kernels).run();
}

}  // namespace intarsia::converter
