// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/gradient_body.h"

#include "converter/graph/gradient_graphs.h"

namespace intarsia::converter {
namespace {

class BranchGradient : GraphNode {
 public:
  BranchGradient(GradientSweep& sweep, Node& node) : GraphNode(sweep, node) {}

  void run() {
    std::vector<std::unique_ptr<Graph>> branches;
    for (const SubGraph& branch : forward_.graphs) branches.push_back(back_through(*branch.graph));
    Value* const condition[] = {forward_.inputs[0]};
    Node* both =
        graph_.add_node("", "If", node_.name, condition, static_cast<int>(needed_.size()), &node_);
    for (size_t i = 0; i < branches.size(); ++i) {
      graph_.adopt(both, forward_.graphs[i].attribute, std::move(branches[i]));
    }
    resolve(*both);
    const std::vector<Value*> gradients = both->outputs;
    infer(*both);
    for (size_t i = 0; i < needed_.size(); ++i) sweep_.add(*needed_[i], gradients[i]);
  }

 private:
  /// What a branch has drawn, for the copy of the branch: elements in a row.
  struct Draw {
    Value* now;   // in the branch
    Value* then;  // in the copy; in the end what the If has kept
  };

  std::unique_ptr<Graph> back_through(Graph& branch) {
    ValueSet dependent(needed_.begin(), needed_.end());
    add_dependent(branch, dependent);
    separate_draws(branch, dependent);
    const std::vector<Node*> originals = branch.node_list();
    for (const Node* node : originals) require_kept(*node, dependent, "a branch");
    Backwards back(*this, branch);
    const std::vector<Value*> results = back.copy(branch, {}, sweep_.budget());
    std::vector<Draw> draws;
    for (size_t i = 0; i < originals.size(); ++i) {
      if (!is_repeatable(*originals[i])) replace_draws(back, *originals[i], i, draws);
    }
    GradientSweep inner(back.place(), sweep_.budget(), needed_, reads_);
    for (size_t i = 0; i < results.size(); ++i) {
      const Value* output = forward_.outputs[i];
      if (!sweep_.flows(output)) continue;
      inner.start(*results[i], sweep_.gradient_of(*output));
    }
    inner.run();
    for (const Value* value : needed_) {
      Value* gradient = inner.gradient_of(*value);
      back.graph().add_output(gradient != nullptr ? gradient : back.place().like(*value, 0));
    }
    back.prune(nullptr);
    for (const Draw& draw : draws) {
      if (!draw.then->uses.empty()) Graph::replace_uses(draw.then, keep(branch, draw));
    }
    return back.take();
  }

  /// What the copy of a node would draw anew is what the node has drawn.
  void replace_draws(const Backwards& back, const Node& original, size_t place,
                     std::vector<Draw>& draws) const {
    const Node& copied = *back.copied_nodes()[place];
    for (size_t i = 0; i < original.outputs.size(); ++i) {
      Value* value = original.outputs[i];
      if (value == nullptr) continue;
      if (holds_elements(type_of(*value))) refuse_kept(original, "a branch");
      Value* then = back.graph().add_value(graph_.unique_name(value->name + "_then"));
      then->type = type_of(*value);
      then->shape.emplace();
      then->shape->push(definitions::Dim::unknown(0));
      draws.push_back({value, then});
      // Draws have the extents of what they read, or fixed ones.
      const Value* like = copied.input(0);
      if (like == nullptr || shape_text(shape_of(*like)) != shape_text(shape_of(*value))) {
        like = copied.outputs[i];
      }
      const auto next = std::next(copied.self);
      Node* behind = next == back.graph().nodes().end() ? nullptr : next->get();
      Node& extents = add(back.graph(), "Shape", {const_cast<Value*>(like)}, {}, behind);
      infer(extents);
      Node& shaped = add(back.graph(), "Reshape", {then, extents.outputs[0]},
                         {{"allowzero", int64_t{1}}}, behind);
      infer(shaped);
      Graph::replace_uses_if(copied.outputs[i], shaped.outputs[0],
                             [&](const Use& use) { return use.node != &extents; });
    }
  }

  /// An output of the If that has what was drawn; nothing if the other branch is taken.
  Value* keep(Graph& branch, const Draw& draw) {
    Node& row = add(branch, "Reshape", {draw.now, constant(branch, "row", Constant::ints({-1}))},
                    {}, nullptr);
    infer(row);
    for (const SubGraph& each : forward_.graphs) {
      each.graph->add_output(
          each.graph.get() == &branch
              ? row.outputs[0]
              : constant(*each.graph, "nothing", Constant::own(type_of(*draw.now), {0}, {})));
    }
    const size_t place = forward_.outputs.size();
    forward_.complete_output(static_cast<int>(place));
    Value* kept = forward_.outputs[place];
    kept->type = type_of(*draw.now);
    kept->shape.emplace();
    kept->shape->push(dim_either(shape_of(*row.outputs[0])[0], definitions::Dim(0)));
    return kept;
  }
};

}  // namespace

void GraphNode::separate_draws(Graph& body, ValueSet& dependent) const {
  for (Node* node : body.node_list()) {
    if (!node->is("Dropout") || !draws(*node) || !dependent.contains(node->inputs[0])) continue;
    Value* x = node->inputs[0];
    Value* factor = node->outputs[0];
    node->set_input(0, at(*node).like(*x, 1));
    const auto next = std::next(node->self);
    Node* behind = next == body.nodes().end() ? nullptr : next->get();
    Node& product = add(body, "Mul", {x, factor}, {}, behind);
    infer(product);
    Value* kept = product.outputs[0];
    Graph::replace_uses_if(factor, kept, [&](const Use& use) { return use.node != &product; });
    dependent.erase(factor);
    dependent.insert(kept);
  }
}

void GraphNode::require_kept(const Node& node, const ValueSet& dependent, const char* where) const {
  for (const SubGraph& sub : node.graphs) {
    sub.graph->walk([&](const Node& inner) {
      if (!is_repeatable(inner)) refuse_kept(inner, where);
    });
  }
  if (is_repeatable(node)) return;
  for_each_operand(node, [&](const Value* operand) {
    if (dependent.contains(operand)) refuse_kept(node, where);
  });
}

void GraphNode::refuse_kept(const Node& node, const char* where) const {
  refuse(fmt::format("'{}' ({}) in {} has other results each time", node.name,
                     node.qualified_type(), where));
}

void go_back_through_branches(GradientSweep& sweep, Node& node) {
  BranchGradient(sweep, node).run();
}

bool goes_back_through_graphs(const Node& node) {
  return !node.graphs.empty() && (node.op->control == definitions::Control::kLoop ||
                                  node.op->control == definitions::Control::kBranches);
}

void go_back_through_graphs(GradientSweep& sweep, Node& node) {
  if (node.op->control == definitions::Control::kLoop) {
    go_back_through_loop(sweep, node);
  } else {
    go_back_through_branches(sweep, node);
  }
}

}  // namespace intarsia::converter
