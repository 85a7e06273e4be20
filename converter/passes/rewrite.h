// SPDX-License-Identifier: Apache-2.0
//
// How passes put one operator in the place of others, and what they do to epilogues.
#pragma once

#include <iterator>
#include <span>
#include <string_view>

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// A new node in front of `last`, of an operator of the converter's opset, with one output.
Node& insert_before(Node& last, std::string_view domain, std::string_view type,
                    std::span<Value* const> inputs, definitions::AttributeMap attributes,
                    Inference& inference);

/// Replaces `last`, which has one output, by such a node. Leaves it behind without readers.
void replace_by(Node& last, std::string_view domain, std::string_view type,
                std::span<Value* const> inputs, definitions::AttributeMap attributes,
                Inference& inference);

/// Lets `node` produce what `last` produced and removes `last`.
void absorb(Node& node, Node& last);

/// A constant of real elements, called `name` or like it.
Value* add_reals(Graph& graph, const std::string& name, DataType type, std::vector<int64_t> extents,
                 const std::vector<double>& values);

/// Whether a node is the model's own, of an operator with the epilogue of `name`, whatever it is
/// called.
bool has_epilogue(const Node& node, std::string_view name);

/// The epilogue that kernels of this node have; null if they have none.
const definitions::Epilogue* epilogue_of(const Node& node);

/// Whether nothing comes behind the sums of the epilogue yet.
bool is_open(const Node& node, const definitions::Epilogue& epilogue);

/// Turns a node into the converter's own operator that has operands for the epilogue.
void take_epilogue(Node& node, const definitions::Epilogue& epilogue);

/// Calls `rule` on every node of `graph` and of nested graphs, in execution order, until it applies
/// nowhere. A rule changes the node and what comes behind it: the node may move there, or another
/// may take its place. So this goes on behind the node in front, and never has to begin again.
template <class Rule>
void apply_rule(Graph& graph, const Rule& rule) {
  const Graph::NodeList& nodes = graph.nodes();
  for (const auto& node : nodes) {
    for (const SubGraph& sub : node->graphs) apply_rule(*sub.graph, rule);
  }
  for (auto at = nodes.begin(); at != nodes.end();) {
    Node& node = **at;
    const bool first = at == nodes.begin();
    const auto front = first ? at : std::prev(at);
    const bool live = node.op != nullptr && node.graphs.empty() && node.output(0) != nullptr &&
                      !node.output(0)->uses.empty();
    if (!live || !rule(node)) {
      ++at;
    } else {
      at = first ? nodes.begin() : std::next(front);
    }
  }
}

}  // namespace intarsia::converter
