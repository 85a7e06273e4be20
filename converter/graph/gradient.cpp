// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "converter/graph/gradient_path.h"
#include "converter/graph/infer_rewriting.h"
#include "core/definitions/gradient.h"

namespace intarsia::converter {

using definitions::AttributeMap;
using definitions::Term;

/// One Gradient node, on its way to become others.
class GradientRewriting : Rewriting {
 public:
  GradientRewriting(Inference& inference, Node& node, GradientBudget& budget)
      : Rewriting(inference, node), budget_(budget) {}

  void run() {
    read();
    substitute();
    Differentiated what{node_, *y_, {}, independent_};
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (wanted(i)) what.xs.push_back(variables_[i]);
    }
    path_ = find_gradient_path(what, budget_);
    parts_[y_] = {like(*y_, 1)};
    for (Node* node : path_.nodes) differentiate(*node);
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i] == nullptr) continue;
      Value* gradient = gradient_of(*variables_[i]);
      if (gradient == nullptr) gradient = like(*variables_[i], 0);
      Graph::replace_uses(node_.outputs[i], gradient);
    }
    graph_.remove(&node_);
  }

 private:
  class Rule;

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
    independent_.insert(variables_.begin(), variables_.end());
    if (copies.empty()) return;
    for (const Node* node : nodes_before(*y_, names, node_, budget_)) {
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

  /// `number` for every element of `value`.
  Value* like(Value& value, double number) {
    Value* scalar = constant(graph_, "number", Constant::scalar_of(type_of(value), number));
    return compute("Expand", {scalar, compute("Shape", {&value})});
  }

  /// The gradient that has been found so far; null if there is none.
  Value* gradient_of(const Value& value) {
    const auto found = parts_.find(&value);
    if (found == parts_.end()) return nullptr;
    std::vector<Value*>& parts = found->second;
    if (parts.size() > 1) parts = {compute(parts.size() == 2 ? "Add" : "Sum", parts)};
    return parts.front();
  }

  void differentiate(Node& node);

  GradientBudget& budget_;
  std::vector<Value*> given_, named_;
  /// What stands for each name: the named value, or what is in its place.
  std::vector<Value*> variables_;
  Value* y_ = nullptr;
  ValueSet independent_;
  GradientPath path_;
  /// What the readers of a value add to its gradient.
  std::unordered_map<const Value*, std::vector<Value*>> parts_;
};

/// What the rule of one node sees.
class GradientRewriting::Rule final : public TermNodes<definitions::GradientContext> {
 public:
  Rule(GradientRewriting& rewriting, Node& node)
      : TermNodes(rewriting, node.attribute_bytes.data(), present(node),
                  static_cast<int>(node.outputs.size())),
        rewriting_(rewriting),
        node_(node) {}

  /// Calls the rule, and looks whether it has done its work.
  void apply() {
    node_.op->facts.gradient(*this);
    for (int i = 0; i < input_count(); ++i) {
      if (!needs(i) || given_.contains(i)) continue;
      refuse(fmt::format("input {} ('{}') has none", i, formal(i).name));
    }
  }

  Term x(int input) override { return term(node_.inputs[static_cast<size_t>(input)]); }
  Term y(int output) override { return term(output_of(output)); }
  Term dy(int output) override {
    Value* value = output_of(output);
    const bool ends = rewriting_.independent_.contains(value);
    Value* gradient = ends ? nullptr : rewriting_.gradient_of(*value);
    return term(gradient != nullptr ? gradient : rewriting_.like(*value, 0));
  }
  bool needs(int input) const override {
    return rewriting_.path_.reached_from.contains(node_.input(input));
  }

  Term repeat(std::initializer_list<Term> inputs) override {
    std::vector<Value*> values = node_.inputs;
    std::transform(inputs.begin(), inputs.end(), values.begin(),
                   [this](const Term& input) { return value(input); });
    return make(node_.type, values, node_.attributes, node_.domain, 1).front();
  }
  [[noreturn]] void refuse(const std::string& reason) const override {
    throw Error(node_.problem("its gradient: " + reason,
                              fmt::format("'{}' asks for it", rewriting_.node_.name)));
  }

 private:
  const definitions::Parameter& formal(int input) const {
    return *definitions::formal(node_.op->inputs, static_cast<size_t>(input));
  }

  /// An output, which the node may have lacked so far.
  Value* output_of(int output) {
    if (node_.output(output) == nullptr) {
      node_.complete_output(output);
      rewriting_.infer(node_);
    }
    return node_.outputs[static_cast<size_t>(output)];
  }
  void count_node() override { rewriting_.budget_.step(rewriting_.node_); }

  void give(int input, Term gradient) override {
    const Term operand = x(input);
    if (formal(input).axes == definitions::AxisRole::kBroadcast) {
      gradient = sum_to(gradient, operand);
    }
    const Shape<definitions::Dim> found = gradient.known().shape, expected = operand.known().shape;
    bool fits = found.rank == expected.rank;
    for (int axis = 0; fits && axis < found.rank; ++axis) {
      const definitions::Dim difference = found[axis] - expected[axis];
      fits = difference.lower() <= 0 && difference.upper() >= 0;
    }
    if (!fits) {
      refuse(fmt::format("the rule gives input {} one of extents {}, expected {}", input,
                         shape_text(found), shape_text(expected)));
    }
    given_.insert(input);
    rewriting_.parts_[node_.inputs[static_cast<size_t>(input)]].push_back(value(gradient));
  }

  GradientRewriting& rewriting_;
  Node& node_;
  std::unordered_set<int> given_;
};

void GradientRewriting::differentiate(Node& node) {
  Rule(*this, node).apply();
}

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
