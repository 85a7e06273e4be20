// SPDX-License-Identifier: Apache-2.0
#include "converter/memory/storage.h"

#include <algorithm>
#include <deque>
#include <string>
#include <tuple>
#include <unordered_set>

#include "converter/graph/kernel_selection.h"
#include "intarsia/describe.h"

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
  std::vector<const Value*> members;

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
    if (options.views) merge_views();
    if (options.in_place) merge_in_place();
    drop_elided();
    std::tie(storage_.tensor_bytes, storage_.lower_bound_bytes) = plan(options, false);
    std::tie(storage_.device_tensor_bytes, storage_.device_lower_bound_bytes) = plan(options, true);
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
      for (const SubGraph& sub : node->graphs) {
        number_steps(*sub.graph);
        end_of_[sub.graph.get()] = next_step_ - 1;
      }
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
      fresh.members = {value};
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
    target.members.insert(target.members.end(), source.members.begin(), source.members.end());
    source.members.clear();
  }

  /// A buffer lives from its first member's birth to its last one's end. Of a member alone less may
  /// be known: the results of branches exclude one another.
  void touch(const Value* value, int32_t step) {
    buffer(value).touch(step);
    const auto [range, inserted] = live_.try_emplace(value, StepRange{step, step});
    range->second.first = std::min(range->second.first, step);
    range->second.last = std::max(range->second.last, step);
  }

  void collect_lifetimes(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      const int32_t first = step(*node), last = last_step_.at(node.get());
      for (const Value* input : node->inputs) {
        if (input == nullptr || input->constant) continue;
        touch(input, first);
        // The condition of an If stays, so that in every node outputs lie apart from inputs.
        touch(input, last);
      }
      for (const Value* output : node->outputs) {
        if (output == nullptr) continue;
        // The result of an If is written by its branches, before its last step.
        touch(output, last);
      }
      for (const SubGraph& sub : node->graphs) {
        collect_lifetimes(*sub.graph);
        const auto& results = sub.graph->outputs();
        for (size_t i = 0; i < results.size() && i < node->outputs.size(); ++i) {
          if (node->outputs[i] == nullptr) continue;
          touch(results[i], end_of_.at(sub.graph.get()));
          merge(node->outputs[i], results[i]);
          storage_.aliases[results[i]] = node->outputs[i];
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
      touch(input, 0);
      if (state) touch(input, end);
    }
    for (const Value* output : graph_.outputs()) {
      touch(output, end);
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
      // Where extents vary the node stays to compute them, and counts as writing its output.
      const bool varying = varies(*node.output(0));
      if (varying && (buffer(input).read_only || !permitted(node).permits(0))) continue;
      // Another branch writes what this one only shows.
      if (storage_.aliases.count(node.output(0)) != 0 && buffer(input).read_only) continue;
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

  InPlace permitted(const Node& node) const { return lowering_.at(&node).kernel->kernel->in_place; }

  /// Results that may overwrite an input which nobody reads afterwards.
  void merge_in_place() {
    for (const PlacedNode& placed : storage_.nodes) {
      const Node& node = *placed.node;
      if (node.op->view || node.output(0) == nullptr) continue;
      for (int index = 0; index < static_cast<int>(node.inputs.size()); ++index) {
        if (!permitted(node).permits(index)) continue;
        const Value* input = node.input(index);
        if (input == nullptr || input->constant) continue;
        if (buffer(input).last != placed.step || buffer(input).read_only) continue;
        if (read_otherwise(node, buffer(input))) continue;
        if (try_merge(input, node.output(0), /*writes=*/true)) break;
      }
    }
  }

  /// True if the node reads the buffer also where it may not be overwritten: a convolution whose
  /// input is its residual too. Twice among the permitted ones, as in Add(x, x), is legal.
  bool read_otherwise(const Node& node, const Buffer& shared) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value* input = node.inputs[i];
      if (input == nullptr || input->constant || &buffer(input) != &shared) continue;
      if (!permitted(node).permits(static_cast<int>(i))) return true;
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
    const bool ranges_vary = varies(*input) || varies(*output);
    if ((writes || ranges_vary) && !same_bytes(*input, *output)) return false;
    if (writes && from.bytes != to.bytes) return false;
    if (intersect(from, to, output)) return false;
    // Sharing must not let one value be overwritten while the other is still read: a view's bytes
    // change only if a later node writes the buffer, which merge_in_place excludes by lifetimes.
    if (from.read_only && from.is_slot && to.is_slot) return false;
    merge(input, output);
    return true;
  }

  /// True if something else that lies in `to` is live when something in `from` is: what the other
  /// branch of an If has in its result, and a value that both branches have from outside.
  bool intersect(const Buffer& from, const Buffer& to, const Value* output) const {
    for (const Value* other : to.members) {
      if (other == output) continue;
      const StepRange& range = live_.at(other);
      for (const Value* value : from.members) {
        const StepRange& mine = live_.at(value);
        if (mine.first <= range.last && range.first <= mine.last) return true;
      }
    }
    return false;
  }

  /// True if both take the same bytes in every run, whatever the symbols are: planned extents that
  /// agree do not suffice, for an operand may broadcast at others.
  static bool same_bytes(const Value& a, const Value& b) {
    if (element_bits(a.type) != element_bits(b.type)) return false;
    const definitions::Dim* extents = a.shape->extents;
    if (a.shape->rank == b.shape->rank &&
        std::equal(extents, extents + a.shape->rank, b.shape->extents)) {
      return true;
    }
    try {
      return element_count(a) == element_count(b);
    } catch (const definitions::DimError&) {
      return false;  // too large to tell
    }
  }
  static definitions::Dim element_count(const Value& value) {
    definitions::Dim count = 1;
    for (int axis = 0; axis < value.shape->rank; ++axis) count *= (*value.shape)[axis];
    return count;
  }

  static int32_t alignment_for(int64_t bytes) { return bytes >= 4096 ? 64 : 16; }

  /// Plans the host's arena or the device's. Returns the bytes of its tensors and the figure that
  /// they are held against: the most that is live at once in this order, each buffer counted once
  /// and without padding.
  std::pair<int64_t, int64_t> plan(const StorageOptions& options, bool device) {
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
    const MemoryPlan result = options.plan(planned, planner);
    if (result.refused >= 0) refuse(result.refused, owner, workspaces);
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
    return {(result.total + 15) / 16 * 16, result.lower_bound};
  }

  /// Throws an error about the tensor or the workspace that is buffer `refused` of the planner's.
  [[noreturn]] void refuse(int32_t refused, const std::vector<int>& owner,
                           const std::vector<std::pair<const Node*, size_t>>& workspaces) const {
    const std::string fate =
        ", with which the tensors exceed 2^62 bytes: no plan has room for them";
    const std::string hint = "look at the node's attributes, and at --dim and --shape";
    for (const auto& [node, index] : workspaces) {
      if (static_cast<int32_t>(index) != refused) continue;
      const int64_t bytes = lowering_.at(node).workspace_bytes;
      throw Error(
          node->problem("needs a workspace of " + std::to_string(bytes) + " bytes" + fate, hint));
    }
    for (size_t i = 0; i < owner.size(); ++i) {
      if (owner[i] != refused) continue;
      const Value& value = *buffers_[i].members.front();
      const std::string text = "tensor '" + value.name + "' has the type " +
                               data_type_name(value.type) + " and the extents " +
                               shape_text(*value.shape) + fate;
      if (value.producer == nullptr) throw Error(text, hint);
      throw Error(value.producer->problem(text, hint));
    }
    throw Error("the states of the nodes" + fate);
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
  std::unordered_map<const Graph*, int32_t> end_of_;  // last step of a branch
  std::unordered_map<const Value*, StepRange> live_;
  std::deque<Buffer> buffers_;
  std::unordered_map<const Value*, int> buffer_of_;
  std::unordered_set<const Node*> elided_;
  int32_t next_step_ = 0;
};

}  // namespace

Storage assign_storage(const Graph& graph, const Lowering& lowering,
                       const std::vector<StatePair>& states, const StorageOptions& options) {
  Storage storage = Assigner(graph, lowering, states).run(options);
  place_weights(storage, lowering, false);
  place_weights(storage, lowering, true);
  return storage;
}

}  // namespace intarsia::converter
