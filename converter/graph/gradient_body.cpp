// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/gradient_body.h"

#include "converter/graph/gradient_graphs.h"

namespace intarsia::converter {
namespace {

class BranchGradient : GraphNode {
 public:
  BranchGradient(GradientSweep& sweep, Node& node) : GraphNode(sweep, node) {}

  void run() {
    Value* const condition[] = {forward_.inputs[0]};
    Node* both =
        graph_.add_node("", "If", node_.name, condition, static_cast<int>(needed_.size()), &node_);
    for (const SubGraph& branch : forward_.graphs) {
      graph_.adopt(both, branch.attribute, back_through(*branch.graph));
    }
    resolve(*both);
    const std::vector<Value*> gradients = both->outputs;
    infer(*both);
    for (size_t i = 0; i < needed_.size(); ++i) sweep_.add(*needed_[i], gradients[i]);
  }

 private:
  std::unique_ptr<Graph> back_through(const Graph& branch) {
    branch.walk([&](const Node& node) {
      if (is_repeatable(node)) return;
      refuse(fmt::format("'{}' ({}) in a branch has other results each time", node.name,
                         node.qualified_type()));
    });
    Backwards back(*this, branch);
    const std::vector<Value*> results = back.copy(branch, {}, sweep_.budget());
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
    return back.take();
  }
};

}  // namespace

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
