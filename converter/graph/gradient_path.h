// SPDX-License-Identifier: Apache-2.0
//
// The part of a graph through which gradients go: what lies between a value and those by which it
// is differentiated. Nothing here changes a graph.
#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "converter/graph/graph.h"

namespace intarsia::converter {

using ValueSet = std::unordered_set<const Value*>;

/// Counts the nodes that are looked at and made for all gradients of a model: those of gradients of
/// gradients multiply.
class GradientBudget {
 public:
  /// Throws, naming the Gradient node, where there were too many.
  void step(const Node& gradient);

 private:
  int64_t steps_ = 0;
};

/// True for floating-point numbers, which alone have gradients.
bool is_real(const Value& value);

/// Calls `visit` for what a node needs from outside of its sub-graphs.
void for_each_operand(const Node& node, const std::function<void(const Value*)>& visit);

struct GradientPath {
  /// From the ys to the xs, in that order.
  std::vector<Node*> nodes;
  /// Values that depend on an x, and on which.
  std::unordered_map<const Value*, const Value*> reached_from;
};

/// What is differentiated, for a Gradient node.
struct Differentiated {
  const Node& gradient;
  std::vector<const Value*> ys;
  std::vector<const Value*> xs;
  /// These and others that are taken as given, also where a node computes them.
  ValueSet independent;
};

/// The nodes that `values` are computed from, producers first, up to what `ends` has.
std::vector<Node*> nodes_before(std::span<const Value* const> values, const ValueSet& ends,
                                const Node& gradient, GradientBudget& budget);

/// Throws Error that lists every node of the path whose operator has no rule.
GradientPath find_gradient_path(const Differentiated& what, GradientBudget& budget);

}  // namespace intarsia::converter
