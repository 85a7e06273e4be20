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
    plan(options);
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
      buffers_.push_back(fresh);
    }
    return buffers_[static_cast<size_t>(root(found->second))];
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
    if (&from == &to) return false;
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

  void plan(const StorageOptions& options) {
    std::vector<PlannedBuffer> planned;
    std::vector<int> owner(buffers_.size(), -1);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& entry = buffers_[i];
      if (entry.parent >= 0) continue;
      owner[i] = static_cast<int>(planned.size());
      planned.push_back({entry.bytes,
                         entry.first,
                         std::max(entry.first, entry.last),
                         alignment_for(entry.bytes),
                         -1,
                         {}});
    }
    struct Extra {
      const Node* node;
      size_t planned;
      bool state;
    };
    std::vector<Extra> extras;
    std::vector<std::pair<int32_t, int64_t>> workspaces;
    for (const PlacedNode& placed : storage_.nodes) {
      const LoweredNode& lowered = lowering_.at(placed.node);
      if (lowered.workspace_bytes > 0) {
        extras.push_back({placed.node, planned.size(), false});
        planned.push_back({lowered.workspace_bytes, placed.step, placed.step, 64, -1, {}});
        workspaces.emplace_back(placed.step, lowered.workspace_bytes);
        storage_.largest_workspace = std::max(storage_.largest_workspace, lowered.workspace_bytes);
      }
      if (lowered.kernel->state_bytes > 0) {
        extras.push_back({placed.node, planned.size(), true});
        planned.push_back({lowered.kernel->state_bytes, 0, next_step_, 16, -1, {}});
      }
    }
    PlannerOptions planner;
    planner.max_steps = options.planner_steps;
    const MemoryPlan result = plan_memory(planned, planner);
    if (!result.error.empty()) throw Error("memory planning failed: " + result.error);
    storage_.tensor_bytes = (result.total + 15) / 16 * 16;

    for (const auto& [value, index] : buffer_of_) {
      const int top = root(index);
      const Buffer& entry = buffers_[static_cast<size_t>(top)];
      const int64_t offset = planned[static_cast<size_t>(owner[static_cast<size_t>(top)])].offset;
      storage_.places[value] = entry.is_slot ? Place{Memory::kSlot, offset, entry.slot}
                                             : Place{Memory::kArena, offset, 0};
      if (entry.is_slot) storage_.slots[entry.slot].offset = offset;
    }
    for (const Extra& extra : extras) {
      (extra.state ? storage_.node_states : storage_.workspaces)[extra.node] =
          planned[extra.planned].offset;
    }
    lower_bound(workspaces);
  }

  /// The figure that the arena is held against: nothing shared but what is not live at once.
  void lower_bound(const std::vector<std::pair<int32_t, int64_t>>& workspaces) {
    std::vector<int64_t> live(static_cast<size_t>(next_step_) + 2);
    for (const auto& [value, lifetime] : unpadded_) {
      if (storage_.aliases.count(value) != 0) continue;
      const int64_t bytes = checked_byte_size(value->type, planned_extents(*value));
      live[static_cast<size_t>(lifetime.first)] += bytes;
      live[static_cast<size_t>(lifetime.last) + 1] -= bytes;
    }
    for (const auto& [at, bytes] : workspaces) {
      live[static_cast<size_t>(at)] += bytes;
      live[static_cast<size_t>(at) + 1] -= bytes;
    }
    int64_t sum = 0;
    for (int64_t change : live) {
      sum += change;
      storage_.lower_bound_bytes = std::max(storage_.lower_bound_bytes, sum);
    }
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

/// Large weights start at a cache line, small ones at a unit; equal ones are stored once.
void place_weights(Storage& storage) {
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
    const int64_t offset = (storage.weights_bytes + alignment - 1) / alignment * alignment;
    candidates.push_back(storage.weights.size());
    storage.weights.push_back({offset, constant});
    storage.weights_bytes = offset + static_cast<int64_t>(constant.size);
    return offset;
  };
  for (const PlacedNode& placed : storage.nodes) {
    for (const Value* input : placed.node->inputs) {
      if (input == nullptr || !input->constant || storage.places.count(input) != 0) continue;
      storage.places[input] = {Memory::kWeights, place(*input->constant), 0};
    }
  }
}

}  // namespace

Storage assign_storage(const Graph& graph, const Lowering& lowering,
                       const std::vector<StatePair>& states, const StorageOptions& options) {
  Storage storage = Assigner(graph, lowering, states).run(options);
  place_weights(storage);
  return storage;
}

}  // namespace intarsia::converter
