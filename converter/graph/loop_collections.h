// SPDX-License-Identifier: Apache-2.0
//
// Inference of what a loop collects, a result of each trip, and of how many trips there are. What
// it carries from trip to trip: infer_loops.cpp.
#pragma once

#include <optional>

#include "converter/graph/infer.h"

namespace intarsia::converter {

/// A new node of one of ONNX's operators, made for `loop`, which it becomes.
Node* resolved(const Node& loop, Node* node);

/// The trips of a loop, from its operands and the options.
class LoopTrips {
 public:
  LoopTrips() = default;
  LoopTrips(const Node& loop, const InferenceOptions& options);
  /// kInfinite if nothing bounds them.
  int64_t most() const { return count_.upper(); }
  /// Their number, if the loop is sure to make all of them. REQUIRES: the body is inferred.
  std::optional<definitions::Dim> exact(const Node& loop) const;

 private:
  definitions::Dim count_;
  bool always_starts_ = false;
};

class LoopCollections {
 public:
  LoopCollections(const Inference& inference, Node& loop)
      : inference_(inference), loop_(loop), body_(*loop.graphs[0].graph) {}

  /// Sequences to which each trip only appends an element, and that are empty at first, are
  /// collected instead of carried: to carry one would copy all that it holds in every trip. Returns
  /// how many of the values are carried still.
  size_t take_appended(size_t carried);
  /// Types and extents of the outputs behind those that are carried. REQUIRES: the body is
  /// inferred.
  void set_outputs(size_t carried, const LoopTrips& trips) const;

 private:
  Node* appended(size_t i) const;
  void take(size_t i, Node& insert);
  void set_output(size_t i, const LoopTrips& trips) const;
  void set_sequence(Value& output, const Value& element, const LoopTrips& trips) const;
  int64_t most_collected(const Value& output, int64_t each, const LoopTrips& trips) const;

  const Inference& inference_;
  Node& loop_;
  Graph& body_;
};

}  // namespace intarsia::converter
