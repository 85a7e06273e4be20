// SPDX-License-Identifier: Apache-2.0
//
// What the ways back through loops and branches have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "converter/graph/gradient_sweep.h"
#include "converter/graph/random_streams.h"
#include "core/definitions/gradient.h"

namespace intarsia::converter {

/// What draws random numbers, or asks the host, would have other results in a copy.
inline bool is_repeatable(const Node& node) {
  return !draws(node) && !node.op->impure;
}

/// A node with sub-graphs whose gradient is wanted, and what it reads from outside.
class GraphNode : protected Rewriting {
 protected:
  GraphNode(GradientSweep& sweep, Node& node) : Rewriting(sweep), sweep_(sweep), forward_(node) {
    for_each_operand(node, [&](const Value* value) {
      if (reads_.insert(value).second && is_real(*value) && sweep_.needs(value)) {
        needed_.push_back(value);
      }
    });
  }
  bool is_needed(const Value* value) const {
    return std::find(needed_.begin(), needed_.end(), value) != needed_.end();
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(
        forward_.problem("its gradient: " + reason, fmt::format("'{}' asks for it", node_.name)));
  }

  /// Adds to `dependent` what the nodes of a body compute from it.
  static void add_dependent(const Graph& body, ValueSet& dependent) {
    for (const auto& node : body.nodes()) {
      bool depends = false;
      for_each_operand(*node,
                       [&](const Value* value) { depends = depends || dependent.contains(value); });
      if (!depends) continue;
      for (const Value* output : node->outputs) {
        if (output != nullptr && is_real(*output)) dependent.insert(output);
      }
    }
  }

  /// Dropout(x) = x * Dropout(1): then what is drawn depends on nothing that is differentiated, and
  /// is kept like other numbers that are.
  void separate_draws(Graph& body, ValueSet& dependent) const;

  /// Fails if a node that gives other results each time stands deeper in `node`, or depends on what
  /// is differentiated; `where` it is.
  void require_kept(const Node& node, const ValueSet& dependent, const char* where) const;
  [[noreturn]] void refuse_kept(const Node& node, const char* where) const;

  GradientSweep& sweep_;
  Node& forward_;
  ValueSet reads_;
  std::vector<const Value*> needed_;  // those whose gradients matter
};

/// A graph that goes back, under construction: a copy of one, and what is written behind it.
class Backwards {
 public:
  Backwards(const Rewriting& place, const Graph& original)
      : graph_(std::make_unique<Graph>(&place.graph(), original.name())),
        mark_(graph_->add_node(definitions::kTrainingDomain, "Gradient", place.node().name, {}, 0)),
        place_(place.at(*mark_)) {
    mark_->name = place.node().name;  // it is gone in the end
  }

  Graph& graph() const { return *graph_; }
  /// Where nodes are written.
  const Rewriting& place() const { return place_; }

  /// The nodes of the original, with these values for its inputs. Returns its outputs.
  std::vector<Value*> copy(const Graph& original, const std::vector<Value*>& arguments,
                           GradientBudget& budget) {
    std::unordered_map<const Value*, Value*> copies;
    std::unique_ptr<Graph> copied = original.clone(graph_.get(), copies);
    copied->walk([&](const Node& node) {
      names_.insert(node.name);
      budget.step(place_.node());
    });
    nodes_ = copied->node_list();
    return graph_->splice(std::move(copied), arguments, mark_);
  }
  const std::vector<Node*>& copied_nodes() const { return nodes_; }

  /// Takes away what nothing uses, or what is known, but for `kept`; what has been copied gets
  /// names of its own. Nothing is written any more.
  void prune(const Node* kept) {
    const std::vector<Node*> all = graph_->node_list();
    for (auto node = all.rbegin(); node != all.rend(); ++node) {
      bool used = *node == kept || *node == mark_;
      for (Value* output : (*node)->outputs) {
        if (output == nullptr) continue;
        if (output->known && !output->uses.empty()) {
          Graph::replace_uses(output, place_.constant(*graph_, "known", *output->known));
        }
        used = used || !output->uses.empty();
      }
      if (!used) graph_->remove(*node);
    }
    graph_->remove(mark_);
    graph_->walk([&](Node& node) {
      if (names_.contains(node.name)) node.name = graph_->unique_name(node.name);
    });
  }
  std::unique_ptr<Graph> take() { return std::move(graph_); }

 private:
  std::unique_ptr<Graph> graph_;
  Node* mark_;
  Rewriting place_;
  std::vector<Node*> nodes_;  // those of the copy
  std::unordered_set<std::string> names_;
};

/// The ways back through one node (gradient_body.h).
void go_back_through_branches(GradientSweep& sweep, Node& node);
void go_back_through_loop(GradientSweep& sweep, Node& node);

}  // namespace intarsia::converter
