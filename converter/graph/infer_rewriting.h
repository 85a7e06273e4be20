// SPDX-License-Identifier: Apache-2.0
//
// What puts other nodes in the place of one: a Loop for a Scan or a SequenceMap, what the rules of
// definitions write for a Gradient or for an operator that becomes others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "converter/graph/infer.h"
#include "core/definitions/term.h"

namespace intarsia::converter {

class Rewriting {
 public:
  Rewriting(Inference& inference, Node& node)
      : node_(node), graph_(*node.graph), inference_(inference) {}

  Node& node() const { return node_; }
  Graph& graph() const { return graph_; }
  /// The same in front of another node, which may stand in another graph.
  Rewriting at(Node& node) const { return {inference_, node}; }

  Value* constant(Graph& graph, const char* what, Constant value) const {
    Value* made = graph.add_constant(graph.unique_name(node_.name + "_" + what), std::move(value));
    made->type = made->constant->type;
    return made;
  }

  /// A node of `graph` in front of `before`, not inferred yet.
  Node& add(Graph& graph, std::string_view type, const std::vector<Value*>& inputs,
            definitions::AttributeMap attributes, Node* before, std::string_view domain = "",
            int outputs = 1) const {
    Node* made =
        graph.add_node(domain, type, node_.name + "_" + std::string(type), inputs, outputs, before);
    made->attributes = std::move(attributes);
    resolve(*made);
    return *made;
  }

  /// One in front of this node, inferred.
  Value* compute(std::string_view type, const std::vector<Value*>& inputs,
                 definitions::AttributeMap attributes = {}, std::string_view domain = "") const {
    Node& made = add(graph_, type, inputs, std::move(attributes), &node_, domain);
    Value* result = made.outputs[0];
    infer(made);
    return result;
  }

  /// `number` for every element of `value`.
  Value* like(const Value& value, double number) const {
    Value* scalar = constant(graph_, "number", Constant::scalar_of(type_of(value), number));
    return compute("Expand", {scalar, compute("Shape", {const_cast<Value*>(&value)})});
  }

  /// The start of a loop's body; returns the number of the trip.
  Value* start_body(Graph& body) const {
    Value* trip = body.add_input(graph_.unique_name(node_.name + "_trip"));
    trip->type = DataType::kInt64;
    trip->shape.emplace();
    body.add_input(graph_.unique_name(node_.name + "_condition"))->type = DataType::kBool;
    return trip;
  }

  /// Ends a loop's body, which never stops the loop early.
  void end_body(Graph& body, const std::vector<Value*>& results) const {
    body.add_output(constant(body, "goes_on", Constant::scalar<bool>(true)));
    for (Value* result : results) body.add_output(result);
  }
  /// A Loop in front of this node, and of its name, that returns the body's outputs; not inferred
  /// yet.
  Node& add_loop(const std::vector<Value*>& inputs, std::unique_ptr<Graph> body) const {
    const auto outputs = static_cast<int>(body->outputs().size()) - 1;
    Node* loop = graph_.add_node("", "Loop", node_.name, inputs, outputs, &node_);
    graph_.adopt(loop, "body", std::move(body));
    resolve(*loop);
    return *loop;
  }

  void resolve(Node& made) const {
    const definitions::OperatorDefinition* op =
        inference_.model_.operators->find(made.domain, made.type);
    if (op == nullptr) {
      throw Error(node_.problem("operator " + made.qualified_type() +
                                ", which a rule of this node "
                                "writes, is not known"));
    }
    const std::string error = made.resolve_as(*op);
    if (!error.empty()) throw Error(node_.problem(error));
  }

  void infer(Node& made) const { inference_.visit(&made); }
  void infer(Graph& made) const { inference_.infer_graph(made); }

 protected:
  Node& node_;
  Graph& graph_;

 private:
  Inference& inference_;
};

/// The terms of a rule, as values of the graph in which a node is replaced. `Context` is the
/// interface that the rule sees.
template <class Context>
class TermNodes : public Context {
 public:
  using AttributeMap = definitions::AttributeMap;
  using Term = definitions::Term;

  std::vector<Term> add(std::string_view op, std::span<const Term> inputs, AttributeMap attributes,
                        int outputs) override {
    std::vector<Value*> values;
    for (const Term& input : inputs) values.push_back(value(input));
    const size_t colon = op.find(':');
    const bool own = colon != std::string_view::npos;
    return make(own ? op.substr(colon + 1) : op, values, std::move(attributes),
                own ? op.substr(0, colon) : std::string_view(), outputs);
  }
  Term absent() override { return term(nullptr); }
  Term number(DataType type, double number) override {
    return term(place_->constant(place_->graph(), "number", Constant::scalar_of(type, number)));
  }
  Term integers(const std::vector<int64_t>& values) override {
    return term(place_->constant(place_->graph(), "list", Constant::ints(values)));
  }
  std::vector<Term> loop(Term trips, std::span<const Term> initial,
                         const definitions::TripRule& trip) override {
    auto body = std::make_unique<Graph>(&place_->graph(), "body");
    const Term number = term(place_->start_body(*body));
    std::vector<Value*> inputs{value(trips), nullptr};
    std::vector<Term> carried;
    for (const Term& each : initial) {
      const Value& before = *value(each);
      inputs.push_back(value(each));
      Value* given = body->add_input(body->unique_name(before.name + "_carried"));
      given->type = type_of(before);
      given->shape = shape_of(before);
      carried.push_back(term(given));
    }
    // Nodes are written in front of one that stands at the body's end.
    Node* end = body->add_node("", "Identity", place_->node().name, {}, 0);
    const Rewriting inside = place_->at(*end), *outside = std::exchange(place_, &inside);
    std::vector<Value*> results;
    for (const Term& result : trip(number, carried)) results.push_back(value(result));
    place_ = outside;
    body->remove(end);
    place_->end_body(*body, results);
    Node& made = place_->add_loop(inputs, std::move(body));
    const std::vector<Value*> outputs = made.outputs;
    place_->infer(made);
    std::vector<Term> terms;
    for (Value* output : outputs) terms.push_back(term(output));
    return terms;
  }
  definitions::SymbolicInput known(Term term) const override { return symbolic_input(value(term)); }

 protected:
  /// The arguments behind the first one are those of the context.
  template <class... Arguments>
  explicit TermNodes(const Rewriting& rewriting, Arguments&&... arguments)
      : Context(std::forward<Arguments>(arguments)...), place_(&rewriting) {}
  ~TermNodes() = default;

  static std::vector<bool> present(const Node& node) {
    std::vector<bool> result;
    for (const Value* input : node.inputs) result.push_back(input != nullptr);
    return result;
  }
  Term term(Value* value) {
    values_.push_back(value);
    return {*this, values_.size() - 1};
  }
  Value* value(const Term& term) const { return values_[term.id()]; }

  std::vector<Term> make(std::string_view op, const std::vector<Value*>& inputs,
                         AttributeMap attributes, std::string_view domain, int outputs) {
    count_node();
    Node& node = place_->add(place_->graph(), op, inputs, std::move(attributes), &place_->node(),
                             domain, outputs);
    for (size_t i = 0; i < node.op->inputs.size(); ++i) {
      const definitions::Parameter& formal = node.op->inputs[i];
      if (formal.kind != definitions::Parameter::kRequired) continue;
      if (node.input(static_cast<int>(i)) != nullptr) continue;
      this->refuse("operator " + node.qualified_type() + " lacks input " + std::to_string(i) +
                   " ('" + std::string(formal.name) + "') if the node lacks its own");
    }
    std::vector<Value*> results = node.outputs;
    if (node.op->facts.expand != nullptr || node.op->facts.special.holds != nullptr) {
      // Others take its place; what its results become shows where they are used.
      Graph& graph = place_->graph();
      Node* user = graph.add_node("", "Identity", node.name + "_user", results, 0, &place_->node());
      place_->infer(node);
      results = user->inputs;
      graph.remove(user);
    } else {
      place_->infer(node);
    }
    std::vector<Term> terms;
    for (Value* result : results) terms.push_back(term(result));
    return terms;
  }

 private:
  /// Called for each node that is made.
  virtual void count_node() {}

  const Rewriting* place_;      // where nodes are written
  std::vector<Value*> values_;  // of the terms
};

}  // namespace intarsia::converter
