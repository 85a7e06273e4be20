// SPDX-License-Identifier: Apache-2.0
//
// The trial execution of a loop: how often it runs, and how large what it computes becomes.
#pragma once

#include <unordered_map>
#include <vector>

#include "converter/graph/infer.h"

namespace intarsia::converter {

class LoopTrial {
 public:
  explicit LoopTrial(Inference& inference) : inference_(inference) {}

  /// Executes `body`, an inferred copy of the loop's own, trip by trip on the trial's values; its
  /// results become those of the node. False if a value is not known or the limits do not suffice.
  bool run(const Node& loop, const Graph& body);

  /// Notes the largest extents of the loop's outputs, and of all values that were computed in the
  /// body, for the values that they are copies of.
  void note(const Node& loop, const std::unordered_map<const Value*, Value*>& copies) const;

 private:
  bool run(const Graph& graph);
  bool run(const Node& node);
  bool run_trip(const Graph& body, int64_t trip, const std::vector<Constant>& carried);
  void see(const Value* value);

  Inference& inference_;
  std::unordered_map<const Value*, std::vector<int64_t>> largest_;
};

}  // namespace intarsia::converter
