// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/gradient.h"

#include <fmt/format.h>

#include <unordered_map>

#include "converter/graph/gradient_sweep.h"
#include "core/definitions/gradient.h"

namespace intarsia::converter {

/// One Gradient node, on its way to become others.
class GradientRewriting : Rewriting {
 public:
  GradientRewriting(Inference& inference, Node& node, GradientBudget& budget)
      : Rewriting(inference, node), budget_(budget) {}

  void run() {
    read();
    substitute();
    std::vector<const Value*> xs;
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (wanted(i)) xs.push_back(variables_[i]);
    }
    GradientSweep sweep(*this, budget_, xs, {variables_.begin(), variables_.end()});
    sweep.start(*y_, like(*y_, 1));
    sweep.run();
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i] == nullptr) continue;
      Value* gradient = sweep.gradient_of(*variables_[i]);
      if (gradient == nullptr) gradient = like(*variables_[i], 0);
      Graph::replace_uses(node_.outputs[i], gradient);
    }
    graph_.remove(&node_);
  }

 private:
  bool wanted(size_t x) const { return node_.output(static_cast<int>(x)) != nullptr; }

  /// Inputs: the values given for xs and zs, then what the attributes name: xs, zs, y.
  void read() {
    const size_t count = (node_.inputs.size() - 1) / 2;
    given_.assign(node_.inputs.begin(), node_.inputs.begin() + static_cast<ptrdiff_t>(count));
    named_.assign(node_.inputs.begin() + static_cast<ptrdiff_t>(count), node_.inputs.end() - 1);
    y_ = node_.inputs.back();
    ValueSet names;
    for (const Value* value : named_) {
      if (names.insert(value).second) continue;
      throw Error(node_.problem(fmt::format("'{}' occurs twice in xs and zs", value->name)));
    }
    const auto require_real = [&](const Value& value, const char* what) {
      if (is_real(value)) return;
      throw Error(node_.problem(
          fmt::format("'{}' ({}) has type {}, but only floating-point numbers have gradients",
                      value.name, what, data_type_name(type_of(value)))));
    };
    require_real(*y_, "y");
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (wanted(i)) require_real(*given_[i], "xs");
    }
  }

  /// Puts what is given in the place of what is named: into copies, since the nodes have other
  /// readers. A value of its own stands for each, so that other uses of what is given do not count.
  void substitute() {
    std::unordered_map<const Value*, Value*> copies;
    for (size_t i = 0; i < named_.size(); ++i) {
      Value* variable = named_[i];
      if (given_[i] != named_[i]) {
        variable = compute("Identity", {given_[i]});
        copies[named_[i]] = variable;
      }
      variables_.push_back(variable);
    }
    const ValueSet names(named_.begin(), named_.end());
    if (copies.empty()) return;
    for (const Node* node : nodes_before({{y_}}, names, node_, budget_)) {
      bool depends = false;
      for_each_operand(*node,
                       [&](const Value* value) { depends = depends || copies.contains(value); });
      if (depends) copy(*node, copies);
    }
    if (const auto copied = copies.find(y_); copied != copies.end()) y_ = copied->second;
  }

  void copy(const Node& node, std::unordered_map<const Value*, Value*>& copies) {
    budget_.step(node_);
    if (!node.graphs.empty()) {
      throw Error(node.problem(
          fmt::format("'{}' takes the gradient at other values than those it names, but a node "
                      "with sub-graphs lies between them and '{}'",
                      node_.name, y_->name),
          "let the inputs of the Gradient node be the values that xs and zs name"));
    }
    const std::string name = node_.name + "_" + node.type;
    std::vector<Value*> inputs, outputs;
    for (Value* input : node.inputs) {
      const auto copied = copies.find(input);
      inputs.push_back(copied == copies.end() ? input : copied->second);
    }
    for (const Value* output : node.outputs) {
      Value* fresh =
          output == nullptr ? nullptr : graph_.add_value(graph_.unique_name(name + "_out"));
      outputs.push_back(fresh);
      if (output != nullptr) copies.emplace(output, fresh);
    }
    Node* made = graph_.add_node_for(node.domain, node.type, name, inputs, outputs, &node_, &node);
    made->op = node.op;
    made->attributes = node.attributes;
    made->tensors = node.tensors;
    made->attribute_bytes = node.attribute_bytes;
    infer(*made);
  }

  GradientBudget& budget_;
  std::vector<Value*> given_, named_;
  /// What stands for each name: the named value, or what is in its place.
  std::vector<Value*> variables_;
  Value* y_ = nullptr;
};

namespace {

void expand(Graph& graph, Inference& inference, GradientBudget& budget) {
  for (Node* node : graph.node_list()) {
    for (const SubGraph& sub : node->graphs) expand(*sub.graph, inference, budget);
    if (node->is("Gradient", definitions::kTrainingDomain)) {
      GradientRewriting(inference, *node, budget).run();
    }
  }
}

}  // namespace

void expand_gradients(Graph& graph, Inference& inference) {
  GradientBudget budget;
  expand(graph, inference, budget);
}

}  // namespace intarsia::converter
