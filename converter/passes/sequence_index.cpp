// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/sequence_index.h"

#include <iterator>
#include <map>

#include "core/definitions/registry.h"

namespace intarsia::converter {
namespace {

using definitions::kInternalDomain;

/// True if `node` runs several times while `value`, which it reads, stays what it is.
bool repeats(const Node& node, const Value& value) {
  for (const Graph* graph = node.graph; graph != value.graph; graph = graph->parent()) {
    const Node* owner = graph->owner();
    if (owner->is("Loop") || owner->is("Scan")) return true;
  }
  return false;
}

/// The node behind that which makes `value`, or the first of its graph; null if there is none.
Node* next_of(const Value& value) {
  const Graph::NodeList& nodes = value.graph->nodes();
  const auto next =
      value.producer != nullptr ? std::next(value.producer->self) : value.graph->nodes().begin();
  return next != nodes.end() ? next->get() : nullptr;
}

class Indices {
 public:
  explicit Indices(Inference& inference) : inference_(inference) {}

  void visit(Node& node) {
    if (!node.fuses_as("SequenceAt") || node.inputs[1]->constant) return;
    Value* sequence = node.inputs[0];
    if (sequence->constant || !repeats(node, *sequence)) return;
    Value*& index = indices_[sequence];
    if (index == nullptr) index = index_of(sequence);
    node.domain = kInternalDomain;
    node.type = "SequenceElement";
    node.op = definitions::OperatorRegistry::builtin().find(node.domain, node.type);
    node.set_input(2, index);
  }

 private:
  Value* index_of(Value* sequence) {
    Graph& graph = *sequence->graph;
    Node* made = graph.add_node(kInternalDomain, "SequenceIndex",
                                graph.unique_name(sequence->name + "_index"), {&sequence, 1}, 1,
                                next_of(*sequence));
    made->resolve_as(*definitions::OperatorRegistry::builtin().find(made->domain, made->type));
    inference_.infer_outputs(*made);
    return made->outputs[0];
  }

  Inference& inference_;
  std::map<const Value*, Value*> indices_;
};

}  // namespace

void index_sequences(Graph& graph, Inference& inference) {
  Indices indices(inference);
  graph.walk([&](Node& node) { indices.visit(node); });
}

}  // namespace intarsia::converter
