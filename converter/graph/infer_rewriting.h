// SPDX-License-Identifier: Apache-2.0
//
// What puts other nodes in the place of one: a Loop for a Scan or a SequenceMap, the nodes that
// compute a gradient for a Gradient.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "converter/graph/infer.h"

namespace intarsia::converter {

class Rewriting {
 public:
  Rewriting(Inference& inference, Node& node)
      : node_(node), graph_(*node.graph), inference_(inference) {}

 protected:
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

}  // namespace intarsia::converter
