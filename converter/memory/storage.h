// SPDX-License-Identifier: Apache-2.0
//
// Storage assignment: linearises a lowered graph, lets values share memory where that is legal, and
// places everything in the arena.
//
// Steps number the execution: sub-graphs are laid one after another behind their node, so that the
// lifetimes of exclusive values never intersect. What a loop reads from outside lives to its end. A
// buffer is a piece of memory shared by the values that alias one another (views, results computed
// in place, the results of branches, what a loop carries).
//
// Entry points run one after another, in any order. So the steps of one follow those of another,
// and their tensors share memory, except for what a caller may have written or still has to read:
// an input or output of one entry point lives through every step of the others. States live
// always.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/graph/graph.h"
#include "converter/memory/planner.h"
#include "core/definitions/kernel_descriptor.h"
#include "core/plan_file.h"

namespace intarsia::converter {

/// What lowering decided about a node.
struct LoweredNode {
  const definitions::KernelRow* kernel = nullptr;
  int64_t workspace_bytes = 0;
  int64_t state_bytes = 0;
  // Its inputs, and its outputs and workspace, lie in the memory of a device.
  bool reads_device = false;
  bool writes_device = false;
};
using Lowering = std::unordered_map<const Node*, LoweredNode>;

/// A tensor kept from one run to the next, one for all entry points. Each has at most one of its
/// inputs, and one of its sources.
struct State {
  std::vector<Value*> inputs;       ///< In the order of the entry points. The first has the slot.
  std::vector<Value*> sources;      ///< Outputs that it becomes after a run of their entry point.
  std::optional<Constant> initial;  ///< What it is at open; zero where nothing says so.
};
bool is_state(const std::vector<State>& states, const Value* value);

/// A node in the order of the plan.
struct PlacedNode {
  const Node* node = nullptr;
  int32_t step = 0;
  std::vector<uint32_t> graphs;  // indices of its sub-graphs
  /// Operands as in the plan: the node's, and of a loop those that its body shares with it
  /// (core/operators/control/control.h).
  std::vector<const Value*> inputs = {};
  std::vector<const Value*> outputs = {};
};

struct PlacedGraph {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t parent = kNone;
};

/// Where a value lies.
struct Place {
  Memory memory = Memory::kArena;
  int64_t offset = 0;  // bytes from the start of the arena's tensors, or of the weights segment
  uint32_t slot = 0;   // for Memory::kSlot
};

struct SlotPlan {
  const Value* value = nullptr;
  int64_t offset = 0;
  bool read_only = false;
  bool state = false;
  std::optional<Constant> initial;
  int64_t initial_offset = 0;  // of it, in the weights segment
};

/// One constant in the weights segment.
struct WeightPlan {
  int64_t offset = 0;
  Constant constant;
};

/// Characters of strings, in plans that have any.
struct StringPlan {
  /// For each entry point, where its part ends: bytes from the begin of the first one's. Empty
  /// where the plan has no tensors of strings.
  std::vector<uint32_t> ends;
  /// Those of constants, and their place in the weights segment.
  std::string constants;
  int64_t constants_offset = 0;
  /// What the weights segment holds of constants with strings: the elements refer to `constants`.
  std::unordered_map<const Value*, Constant> values;
};

struct Storage {
  std::vector<PlacedNode> nodes;
  std::vector<PlacedGraph> graphs;
  std::vector<uint32_t> entry_graphs;  // indices of the entry points' graphs
  std::unordered_map<const Value*, Place> places;
  /// Values that are one tensor in the plan: a branch's result is an output of its If, what a body
  /// is given of a carried value is the loop's output, a state is an input of several entry points.
  std::unordered_map<const Value*, const Value*> aliases;
  /// Inputs whose extents are not set by the caller: a run has them as those of another value.
  std::unordered_map<const Value*, const Value*> extents_of;
  std::unordered_map<const Node*, int64_t> workspaces;  // offsets
  std::unordered_map<const Node*, int64_t> node_states;
  std::vector<SlotPlan> slots;
  std::vector<WeightPlan> weights;
  StringPlan strings;
  int64_t weights_bytes = 0;
  int64_t tensor_bytes = 0;  // arena without the metadata prefix
  /// Max over nodes of live tensors, unpadded, plus workspace; tensors that share memory (views,
  /// results computed in place) count once. No arena for this order is smaller.
  int64_t lower_bound_bytes = 0;
  int64_t largest_workspace = 0;
  // The device's tensors, and its part of the weights, which comes last.
  int64_t device_tensor_bytes = 0;
  int64_t device_lower_bound_bytes = 0;
  int64_t device_weights_offset = 0;
  int64_t device_weights_bytes = 0;
  uint32_t view_count = 0;
};

/// Large weights start at a cache line, small ones at a unit; equal ones are stored once. Those of
/// the device follow, their places counted from the first.
void place_weights(Storage& storage, const Lowering& lowering, bool device);

inline constexpr int64_t kDefaultMaxString = 256;

/// What inputs of entry points and nodes need for characters, if a string has `max_string` bytes on
/// average, and the constants' (converter/memory/strings.cpp). Throws Error if that is not known,
/// or too much.
StringPlan plan_strings(std::span<Graph* const> entries, const Lowering& lowering,
                        int64_t max_string);

/// How values may share memory. The defaults share nothing; passes (passes.h) switch it on.
struct StorageOptions {
  /// Steps of the planner's search, and of that for an order of nodes; see PlannerOptions.
  int64_t planner_steps = 250'000'000;
  /// Bytes of a string on average, at most.
  int64_t max_string = kDefaultMaxString;
  /// A result that holds the bytes of its input lies where the input lies.
  bool views = false;
  /// A result may overwrite an input that nobody reads afterwards.
  bool in_place = false;
  /// Gives buffers their places.
  MemoryPlan (*plan)(std::vector<PlannedBuffer>&, const PlannerOptions&) = plan_apart;
};

/// REQUIRES: every node has a kernel in `lowering`, every value a type and bounded extents; the
/// outputs of graphs are produced by nodes of that graph, each by one output (see
/// `materialize_outputs`). `entries` are the graphs of the entry points.
Storage assign_storage(std::span<Graph* const> entries, const Lowering& lowering,
                       const std::vector<State>& states, const StorageOptions& options = {});

}  // namespace intarsia::converter
