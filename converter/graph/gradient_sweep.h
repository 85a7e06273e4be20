// SPDX-License-Identifier: Apache-2.0
//
// The way back from some values to those by which they are differentiated: nodes in front of a
// Gradient node, or of whatever is in its place.
#pragma once

#include <unordered_map>
#include <vector>

#include "converter/graph/gradient_path.h"
#include "converter/graph/infer_rewriting.h"

namespace intarsia::converter {

class GradientSweep : public Rewriting {
 public:
  /// Nothing goes beyond what `independent` has; `xs` are among it.
  GradientSweep(const Rewriting& place, GradientBudget& budget, std::vector<const Value*> xs,
                ValueSet independent)
      : Rewriting(place),
        budget_(budget),
        xs_(std::move(xs)),
        independent_(std::move(independent)) {}

  /// Begins at `y` with its gradient. Before `run`.
  void start(Value& y, Value* gradient) {
    ys_.push_back(&y);
    parts_[&y].push_back(gradient);
  }
  /// Writes the gradients down. Throws Error that lists each node on the way whose operator has no
  /// rule.
  void run();
  /// The gradient of a value that has been found; null if there is none.
  Value* gradient_of(const Value& value);

  // What ways back through single nodes see.
  GradientBudget& budget() const { return budget_; }
  /// True if the value depends on one of the xs.
  bool needs(const Value* value) const { return path_.reached_from.contains(value); }
  /// True if something that matters reads the value, an output of a node.
  bool flows(const Value* value) const {
    return value != nullptr && !independent_.contains(value) && parts_.contains(value);
  }
  void add(const Value& value, Value* gradient) { parts_[&value].push_back(gradient); }

 private:
  class Rule;

  GradientBudget& budget_;
  std::vector<const Value*> xs_, ys_;
  ValueSet independent_;
  GradientPath path_;
  /// What the readers of a value add to its gradient.
  std::unordered_map<const Value*, std::vector<Value*>> parts_;
};

}  // namespace intarsia::converter
