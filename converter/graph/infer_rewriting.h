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
  Value* like(Value& value, double number) const {
    Value* scalar = constant(graph_, "number", Constant::scalar_of(type_of(value), number));
    return compute("Expand", {scalar, compute("Shape", {&value})});
  }

  /// The start of a loop's body; returns the number of the trip.
  Value* start_body(Graph& body) const {
    Value* trip = body.add_input(graph_.unique_name(node_.name + "_trip"));
    trip->type = DataType::kInt64;
    body.add_input(graph_.unique_name(node_.name + "_condition"))->type = DataType::kBool;
    return trip;
  }

  /// A Loop in front of this node, and of its name, that returns the body's outputs and never stops
  /// early; not inferred yet.
  Node& add_loop(const std::vector<Value*>& inputs, std::unique_ptr<Graph> body,
                 const std::vector<Value*>& results) const {
    body->add_output(constant(*body, "goes_on", Constant::scalar<bool>(true)));
    for (Value* result : results) body->add_output(result);
    Node* loop =
        graph_.add_node("", "Loop", node_.name, inputs, static_cast<int>(results.size()), &node_);
    graph_.adopt(loop, "body", std::move(body));
    resolve(*loop);
    return *loop;
  }

  void infer(Node& made) const { inference_.visit(&made); }
  void infer(Graph& made) const { inference_.infer_graph(made); }

 protected:
  Node& node_;
  Graph& graph_;

 private:
  Inference& inference_;

  void resolve(Node& made) const {
    const std::string error =
        made.resolve_as(*definitions::OperatorRegistry::builtin().find(made.domain, made.type));
    if (!error.empty()) throw Error(node_.problem(error));
  }
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
  Term number(DataType type, double number) override {
    return term(
        rewriting_.constant(rewriting_.graph(), "number", Constant::scalar_of(type, number)));
  }
  Term integers(const std::vector<int64_t>& values) override {
    return term(rewriting_.constant(rewriting_.graph(), "list", Constant::ints(values)));
  }
  definitions::SymbolicInput known(Term term) const override { return symbolic_input(value(term)); }

 protected:
  /// The arguments behind the first one are those of the context.
  template <class... Arguments>
  explicit TermNodes(const Rewriting& rewriting, Arguments&&... arguments)
      : Context(std::forward<Arguments>(arguments)...), rewriting_(rewriting) {}
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
    Node& node = rewriting_.add(rewriting_.graph(), op, inputs, std::move(attributes),
                                &rewriting_.node(), domain, outputs);
    const std::vector<Value*> results = node.outputs;
    rewriting_.infer(node);
    std::vector<Term> terms;
    for (Value* result : results) terms.push_back(term(result));
    return terms;
  }

 private:
  /// Called for each node that is made.
  virtual void count_node() {}

  const Rewriting& rewriting_;
  std::vector<Value*> values_;  // of the terms
};

}  // namespace intarsia::converter
