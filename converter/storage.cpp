// SPDX-License-Identifier: Apache-2.0
#include "converter/storage.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <unordered_set>

#include "converter/kernel_selection.h"

namespace intarsia::converter {
namespace {

/// Memory shared by values that alias one another.
struct Buffer {
  int64_t bytes = 0;
  int32_t first = INT32_MAX;
  int32_t last = -1;
  bool device = false;  // in the memory of a device
  bool is_slot = false;
  bool read_only = false;  // a graph input: nodes must not write it
  uint32_t slot = 0;
  int parent = -1;  // union-find

  void touch(int32_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
};

class Assigner {
 public:
  Assigner(const Graph& graph, const Lowering& lowering, const std::vector<StatePair>& states)
      : graph_(graph), lowering_(lowering), states_(states) {}

  Storage run(const StorageOptions& options) {
    place_graph(graph_, kNone);
    number_steps(graph_);
    collect_lifetimes(graph_);
    add_ports();
    merge_views();
    merge_in_place();
    drop_elided();
    storage_.tensor_bytes = plan(options, false);
    storage_.lower_bound_bytes = lower_bound(false);
    storage_.device_tensor_bytes = plan(options, true);
    storage_.device_lower_bound_bytes = lower_bound(true);
    storage_.view_count = views_needed(graph_);
    return std::move(storage_);
  }

 private:
  // Plan order: each graph's nodes stand together, sub-graphs behind the graph that holds them.
  void place_graph(const Graph& root, uint32_t root_parent) {
    std::deque<std::pair<const Graph*, uint32_t>> pending{{&root, root_parent}};
    while (!pending.empty()) {
      const auto [graph, parent] = pending.front();
      pending.pop_front();
      PlacedGraph placed{static_cast<uint32_t>(storage_.nodes.size()),
                         static_cast<uint32_t>(graph->nodes().size()), parent};
      storage_.graphs.push_back(placed);
      for (const auto& node : graph->nodes()) {
        const auto index = static_cast<uint32_t>(storage_.nodes.size());
        PlacedNode entry{node.get(), 0, {}};
        for (const SubGraph& sub : node->graphs) {
          entry.graphs.push_back(static_cast<uint32_t>(storage_.graphs.size() + pending.size()));
          pending.emplace_back(sub.graph.get(), index);
        }
        index_[node.get()] = index;
        storage_.nodes.push_back(std::move(entry));
      }
    }
  }

  void number_steps(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      const int32_t first = next_step_++;
      storage_.nodes[index_[node.get()]].step = first;
      for (const SubGraph& sub : node->graphs) number_steps(*sub.graph);
      if (!node->graphs.empty()) ++next_step_;
      last_step_[node.get()] = next_step_ - 1;
    }
  }

  int step(const Node& node) const { return storage_.nodes[index_.at(&node)].step; }

  Buffer& buffer(const Value* value) {
    auto [found, inserted] = buffer_of_.try_emplace(value, static_cast<int>(buffers_.size()));
    if (inserted) {
      Buffer fresh;
      fresh.bytes = checked_byte_size(value->type, planned_extents(*value));
      fresh.device = on_device(*value);
      buffers_.push_back(fresh);
    }
    return buffers_[static_cast<size_t>(root(found->second))];
  }

  bool on_device(const Value& value) const {
    return value.producer != nullptr && lowering_.at(value.producer).writes_device;
  }

  int root(int index) const {
    while (buffers_[static_cast<size_t>(index)].parent >= 0) {
      index = buffers_[static_cast<size_t>(index)].parent;
    }
    return index;
  }

  void merge(const Value* a, const Value* b) {
    buffer(a);
    buffer(b);
    const int to = root(buffer_of_.at(a)), from = root(buffer_of_.at(b));
    if (to == from) return;
    Buffer& target = buffers_[static_cast<size_t>(to)];
    Buffer& source = buffers_[static_cast<size_t>(from)];
    target.bytes = std::max(target.bytes, source.bytes);
    target.first = std::min(target.first, source.first);
    target.last = std::max(target.last, source.last);
    if (source.is_slot) {
      target.is_slot = true;
      target.slot = source.slot;
      target.read_only = source.read_only;
    }
    source.parent = to;
  }

  void collect_lifetimes(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      const int32_t first = step(*node), last = last_step_.at(node.get());
      for (const Value* input : node->inputs) {
        if (input == nullptr || input->constant) continue;
        buffer(input).touch(first);
        // The condition of an If stays, so that in every node outputs lie apart from inputs.
        buffer(input).touch(last);
        unpadded_[input].touch(first);
      }
      for (const Value* output : node->outputs) {
        if (output == nullptr) continue;
        // The result of an If is written by its branches, before its last step.
        buffer(output).touch(last);
        unpadded_[output].touch(last);
      }
      for (const SubGraph& sub : node->graphs) {
        collect_lifetimes(*sub.graph);
        const auto& results = sub.graph->outputs();
        for (size_t i = 0; i < results.size() && i < node->outputs.size(); ++i) {
          if (node->outputs[i] == nullptr) continue;
          merge(node->outputs[i], results[i]);
          storage_.aliases[results[i]] = node->outputs[i];
          unpadded_[node->outputs[i]].touch(unpadded_[results[i]].first);
        }
      }
    }
  }

  void add_slot(const Value* value, bool read_only, bool state) {
    Buffer& target = buffer(value);
    target.is_slot = true;
    target.read_only = read_only;
    target.slot = static_cast<uint32_t>(storage_.slots.size());
    storage_.slots.push_back({value, 0, read_only, state});
  }

  void add_ports() {
    const int32_t end = next_step_;
    for (const Value* input : graph_.inputs()) {
      const bool state = std::any_of(states_.begin(), states_.end(),
                                     [&](const StatePair& pair) { return pair.state == input; });
      add_slot(input, true, state);
      buffer(input).touch(0);
      unpadded_[input].touch(0);
      if (state) {
        buffer(input).touch(end);
        unpadded_[input].touch(end);
      }
    }
    for (const Value* output : graph_.outputs()) {
      buffer(output).touch(end);
      unpadded_[output].touch(end);
      const bool state = std::any_of(states_.begin(), states_.end(),
                                     [&](const StatePair& pair) { return pair.source == output; });
      if (!state) add_slot(output, false, false);
    }
  }

  /// Results that hold the bytes of their input.
  void merge_views() {
    for (const PlacedNode& placed : storage_.nodes) {
      const Node& node = *placed.node;
      if (!node.op->view || node.output(0) == nullptr) continue;
      const Value* input = node.input(0);
      if (input == nullptr || input->constant) continue;
      // A captured value must not become a branch's result: the other branch would overwrite it.
      if (storage_.aliases.count(node.output(0)) != 0 && input->graph != node.graph) continue;
      // Where extents vary the node stays to compute them, and counts as writing its output.
      const bool varying = varies(*node.output(0));
      if (varying && buffer(input).read_only) continue;
      if (try_merge(input, node.output(0), /*writes=*/false) && !varying) elided_.insert(&node);
    }
  }

  /// Takes views that need no work out of the plan.
  void drop_elided() {
    std::vector<PlacedNode> kept;
    std::vector<uint32_t> index(storage_.nodes.size());
    for (PlacedGraph& graph : storage_.graphs) {
      const auto first = static_cast<uint32_t>(kept.size());
      for (uint32_t i = graph.first; i < graph.first + graph.count; ++i) {
        index[i] = static_cast<uint32_t>(kept.size());
        if (elided_.count(storage_.nodes[i].node) == 0)
          kept.push_back(std::move(storage_.nodes[i]));
      }
      graph.first = first;
      graph.count = static_cast<uint32_t>(kept.size()) - first;
      // Parents come before their sub-graphs.
      if (graph.parent != kNone) graph.parent = index[graph.parent];
    }
    storage_.nodes = std::move(kept);
  }

  /// Results that may overwrite an input which nobody reads afterwards.
  void merge_in_place() {
    for (const PlacedNode& placed : storage_.nodes) {
      const Node& node = *placed.node;
      if (node.op->view || node.output(0) == nullptr) continue;
      for (int index : node.op->in_place) {
        const Value* input = node.input(index);
        if (input == nullptr || input->constant) continue;
        if (buffer(input).last != placed.step || buffer(input).read_only) continue;
        if (read_otherwise(node, buffer(input))) continue;
        if (try_merge(input, node.output(0), /*writes=*/true)) break;
      }
    }
  }

  /// True if the node reads the buffer also where it may not be overwritten: a convolution whose
  /// input is its residual too. Twice in the list of `in_place`, as in Add(x, x), is legal.
  bool read_otherwise(const Node& node, const Buffer& shared) {
    const auto& allowed = node.op->in_place;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value* input = node.inputs[i];
      if (input == nullptr || input->constant || &buffer(input) != &shared) continue;
      if (std::find(allowed.begin(), allowed.end(), static_cast<int>(i)) == allowed.end()) {
        return true;
      }
    }
    return false;
  }

  bool try_merge(const Value* input, const Value* output, bool writes) {
    const Buffer& from = buffer(input);
    const Buffer& to = buffer(output);
    if (&from == &to || from.device != to.device) return false;
    if (from.is_slot && to.is_slot) return false;
    // A caller may bind a slot to a buffer of exactly its own size.
    if (from.is_slot && to.bytes > from.bytes) return false;
    if (to.is_slot && from.bytes > to.bytes) return false;
    if (writes && from.bytes != to.bytes) return false;
    if (varies(*input) != varies(*output) && writes) return false;
    // Sharing must not let one value be overwritten while the other is still read: a view's bytes
    // change only if a later node writes the buffer, which merge_in_place excludes by lifetimes.
    if (from.read_only && from.is_slot && to.is_slot) return false;
    merge(input, output);
    return true;
  }

  static int32_t alignment_for(int64_t bytes) { return bytes >= 4096 ? 64 : 16; }

  /// Plans the host's arena or the device's; returns the bytes of its tensors.
  int64_t plan(const StorageOptions& options, bool device) {
    std::vector<PlannedBuffer> planned;
    std::vector<int> owner(buffers_.size(), -1);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& entry = buffers_[i];
      if (entry.parent >= 0 || entry.device != device) continue;
      owner[i] = static_cast<int>(planned.size());
      planned.push_back({entry.bytes,
                         entry.first,
                         std::max(entry.first, entry.last),
                         alignment_for(entry.bytes),
                         -1,
                         {}});
    }
    std::vector<std::pair<const Node*, size_t>> workspaces;  // place among `planned`
    std::vector<std::pair<const Node*, int64_t>> states;     // offset among all states
    int64_t state_bytes = 0;
    for (const PlacedNode& placed : storage_.nodes) {
      const LoweredNode& lowered = lowering_.at(placed.node);
      if (lowered.writes_device != device) continue;
      if (lowered.workspace_bytes > 0) {
        workspaces.emplace_back(placed.node, planned.size());
        planned.push_back({lowered.workspace_bytes, placed.step, placed.step, 64, -1, {}});
        storage_.largest_workspace = std::max(storage_.largest_workspace, lowered.workspace_bytes);
      }
      if (lowered.kernel->state_bytes > 0) {
        states.emplace_back(placed.node, (state_bytes + 63) / 64 * 64);
        state_bytes = states.back().second + lowered.kernel->state_bytes;
      }
    }
    // The verifier wants all states in one range, in the nodes' order.
    const size_t state_range = planned.size();
    if (!states.empty()) planned.push_back({state_bytes, 0, next_step_, 64, -1, {}});
    PlannerOptions planner;
    planner.max_steps = options.planner_steps;
    const MemoryPlan result = plan_memory(planned, planner);
    if (!result.error.empty()) throw Error("memory planning failed: " + result.error);

    for (const auto& [value, index] : buffer_of_) {
      const int top = root(index);
      const Buffer& entry = buffers_[static_cast<size_t>(top)];
      if (entry.device != device) continue;
      const int64_t offset = planned[static_cast<size_t>(owner[static_cast<size_t>(top)])].offset;
      const Memory arena = device ? Memory::kDeviceArena : Memory::kArena;
      storage_.places[value] =
          entry.is_slot ? Place{Memory::kSlot, offset, entry.slot} : Place{arena, offset, 0};
      if (entry.is_slot) storage_.slots[entry.slot].offset = offset;
    }
    for (const auto& [node, index] : workspaces) storage_.workspaces[node] = planned[index].offset;
    for (const auto& [node, offset] : states) {
      storage_.node_states[node] = planned[state_range].offset + offset;
    }
    return (result.total + 15) / 16 * 16;
  }

  /// The figure that an arena is held against: nothing shared but what is not live at once.
  int64_t lower_bound(bool device) {
    std::vector<int64_t> live(static_cast<size_t>(next_step_) + 2);
    for (const auto& [value, lifetime] : unpadded_) {
      if (storage_.aliases.count(value) != 0 || on_device(*value) != device) continue;
      const int64_t bytes = checked_byte_size(value->type, planned_extents(*value));
      live[static_cast<size_t>(lifetime.first)] += bytes;
      live[static_cast<size_t>(lifetime.last) + 1] -= bytes;
    }
    for (const PlacedNode& placed : storage_.nodes) {
      const LoweredNode& lowered = lowering_.at(placed.node);
      if (lowered.writes_device != device) continue;
      live[static_cast<size_t>(placed.step)] += lowered.workspace_bytes;
      live[static_cast<size_t>(placed.step) + 1] -= lowered.workspace_bytes;
    }
    int64_t sum = 0, most = 0;
    for (int64_t change : live) {
      sum += change;
      most = std::max(most, sum);
    }
    return most;
  }

  uint32_t views_needed(const Graph& graph) const {
    uint32_t most = 0;
    for (const auto& node : graph.nodes()) {
      uint32_t nested = 0;
      for (const SubGraph& sub : node->graphs) {
        nested = std::max(nested, views_needed(*sub.graph));
      }
      most = std::max(most,
                      static_cast<uint32_t>(node->inputs.size() + node->outputs.size()) + nested);
    }
    return most;
  }

  const Graph& graph_;
  const Lowering& lowering_;
  const std::vector<StatePair>& states_;
  Storage storage_;
  std::unordered_map<const Node*, uint32_t> index_;
  std::unordered_map<const Node*, int32_t> last_step_;
  std::deque<Buffer> buffers_;
  std::unordered_map<const Value*, int> buffer_of_;
  std::unordered_set<const Node*> elided_;
  std::unordered_map<const Value*, Buffer> unpadded_;  // lifetimes without any sharing
  int32_t next_step_ = 0;
};

/// Large weights start at a cache line, small ones at a unit; equal ones are stored once. Those of
/// the device follow, their places counted from the first.
void place_weights(Storage& storage, const Lowering& lowering, bool device) {
  const int64_t start = (storage.weights_bytes + 63) / 64 * 64;  // 0 for the host
  int64_t end = start;
  std::map<std::pair<size_t, uint64_t>, std::vector<size_t>> by_content;
  const auto place = [&](const Constant& constant) -> int64_t {
    const uint64_t hash = checksum_words(constant.bytes(), 0xcbf29ce484222325u);
    std::vector<size_t>& candidates = by_content[{constant.size, hash}];
    for (size_t candidate : candidates) {
      const Constant& other = storage.weights[candidate].constant;
      if (std::equal(constant.bytes().begin(), constant.bytes().end(), other.bytes().begin())) {
        return storage.weights[candidate].offset;
      }
    }
    const int64_t alignment = constant.size >= 256 ? 64 : static_cast<int64_t>(kWeightUnit);
    const int64_t offset = (end + alignment - 1) / alignment * alignment;
    candidates.push_back(storage.weights.size());
    storage.weights.push_back({offset, constant});
    end = offset + static_cast<int64_t>(constant.size);
    return offset;
  };
  for (const PlacedNode& placed : storage.nodes) {
    if (lowering.at(placed.node).reads_device != device) continue;
    for (const Value* input : placed.node->inputs) {
      if (input == nullptr || !input->constant || storage.places.count(input) != 0) continue;
      storage.places[input] = {device ? Memory::kDeviceWeights : Memory::kWeights,
                               place(*input->constant) - start, 0};
    }
  }
  if (end == start) return;
  storage.weights_bytes = end;
  if (device) {
    storage.device_weights_offset = start;
    storage.device_weights_bytes = end - start;
  }
}

}  // namespace

Storage assign_storage(const Graph& graph, const Lowering& lowering,
                       const std::vector<StatePair>& states, const StorageOptions& options) {
  Storage storage = Assigner(graph, lowering, states).run(options);
  place_weights(storage, lowering, false);
  place_weights(storage, lowering, true);
  return storage;
}

}  // namespace intarsia::converter
