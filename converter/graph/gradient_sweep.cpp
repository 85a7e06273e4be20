// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/gradient_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "converter/graph/gradient_body.h"
#include "converter/graph/gradient_formula.h"
#include "core/definitions/gradient.h"

namespace intarsia::converter {

/// What the rule of one node sees.
class GradientSweep::Rule final : public TermNodes<definitions::GradientContext> {
 public:
  Rule(GradientSweep& sweep, Node& node)
      : TermNodes(sweep, node.attribute_bytes.data(), present(node),
                  static_cast<int>(node.outputs.size())),
        sweep_(sweep),
        node_(node) {}

  /// Calls the rule, and looks whether it has done its work.
  void apply() {
    if (node_.op->facts.gradient != nullptr) {
      node_.op->facts.gradient(*this);
    } else {
      apply_gradient_formula(node_.op->facts.gradient_formula, *node_.op, *this);
    }
    if (!expressions_.empty()) differentiate_expressions();
    for (int i = 0; i < input_count(); ++i) {
      if (!needs(i) || given_.contains(i)) continue;
      refuse(fmt::format("input {} ('{}') has none", i, formal(i).name));
    }
  }

  Term x(int input) override { return term(node_.input(input)); }
  Term y(int output) override { return term(output_of(output)); }
  Term dy(int output) override {
    Value* value = output_of(output);
    const bool ends = sweep_.independent_.contains(value);
    Value* gradient = ends ? nullptr : sweep_.gradient_of(*value);
    return term(gradient != nullptr ? gradient : sweep_.like(*value, 0));
  }
  bool needs(int input) const override { return sweep_.needs(node_.input(input)); }
  bool flows(int output) const override { return sweep_.flows(node_.output(output)); }
  const AttributeMap& given() const override { return node_.attributes; }
  Term repeat(std::initializer_list<Term> inputs) override {
    std::vector<Value*> values = node_.inputs;
    std::transform(inputs.begin(), inputs.end(), values.begin(),
                   [this](const Term& input) { return value(input); });
    return make(node_.type, values, node_.attributes, node_.domain, 1).front();
  }
  [[noreturn]] void refuse(const std::string& reason) const override {
    throw Error(node_.problem("its gradient: " + reason,
                              fmt::format("'{}' asks for it", sweep_.node_.name)));
  }

 private:
  const definitions::Parameter& formal(int input) const {
    return *definitions::formal(node_.op->inputs, static_cast<size_t>(input));
  }

  /// An output, which the node may have lacked so far.
  Value* output_of(int output) {
    if (node_.output(output) == nullptr) {
      node_.complete_output(output);
      sweep_.infer(node_);
    }
    return node_.outputs[static_cast<size_t>(output)];
  }
  void equate(int output, Term expression) override {
    expressions_.emplace_back(output, value(expression));
  }
  /// From what stands for the outputs to the inputs. A value that is several of them has one
  /// gradient.
  void differentiate_expressions() {
    std::vector<const Value*> xs;
    for (int i = 0; i < input_count(); ++i) {
      if (needs(i)) xs.push_back(node_.input(i));
    }
    GradientSweep inner(sweep_, sweep_.budget_, xs, {node_.inputs.begin(), node_.inputs.end()});
    for (const auto& [output, expression] : expressions_) {
      inner.start(*expression, value(dy(output)));
    }
    inner.run();
    ValueSet done;
    for (int i = 0; i < input_count(); ++i) {
      if (!needs(i)) continue;
      given_.insert(i);
      const Value& input = *node_.input(i);
      Value* gradient = done.insert(&input).second ? inner.gradient_of(input) : nullptr;
      if (gradient != nullptr) give(i, term(gradient));
    }
  }

  void count_node() override { sweep_.budget_.step(sweep_.node_); }

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
    sweep_.add(*node_.inputs[static_cast<size_t>(input)], value(gradient));
  }

  GradientSweep& sweep_;
  Node& node_;
  std::unordered_set<int> given_;
  std::vector<std::pair<int, Value*>> expressions_;  // of outputs
};

void GradientSweep::run() {
  path_ = find_gradient_path({node_, ys_, xs_, independent_}, budget_);
  for (Node* node : path_.nodes) {
    if (goes_back_through_graphs(*node)) {
      go_back_through_graphs(*this, *node);
    } else {
      Rule(*this, *node).apply();
    }
  }
}

Value* GradientSweep::gradient_of(const Value& value) {
  const auto found = parts_.find(&value);
  if (found == parts_.end()) return nullptr;
  std::vector<Value*>& parts = found->second;
  if (parts.size() > 1) parts = {compute(parts.size() == 2 ? "Add" : "Sum", parts)};
  return parts.front();
}

}  // namespace intarsia::converter
