// SPDX-License-Identifier: Apache-2.0
#include "converter/memory/storage.h"

#include <algorithm>
#include <deque>
#include <string>
#include <tuple>
#include <unordered_set>

#include "converter/graph/kernel_selection.h"
#include "converter/memory/buffers.h"
#include "converter/memory/loops.h"
#include "intarsia/describe.h"

namespace intarsia::converter {
namespace {

class Assigner {
 public:
  Assigner(std::span<Graph* const> entries, const Lowering& lowering,
           const std::vector<State>& states)
      : entries_(entries),
        lowering_(lowering),
        states_(states),
        buffers_(lowering),
        loops_(buffers_, lowering, storage_) {}

  Storage run(const StorageOptions& options) {
    for (const Graph* graph : entries_) {
      storage_.entry_graphs.push_back(static_cast<uint32_t>(storage_.graphs.size()));
      place_graph(*graph);
      StepRange& steps = steps_[graph];
      steps.first = next_step_;
      number_steps(*graph);
      steps.last = next_step_++;  // when outputs are there, and states take what they become
    }
    for (const Graph* graph : entries_) collect_lifetimes(*graph);
    for (const Graph* graph : entries_) add_ports(*graph);
    join_loops(options.in_place);
    if (options.views) merge_views();
    if (options.in_place) merge_in_place();
    drop_elided();
    std::tie(storage_.tensor_bytes, storage_.lower_bound_bytes) = plan(options, false);
    std::tie(storage_.device_tensor_bytes, storage_.device_lower_bound_bytes) = plan(options, true);
    for (const Graph* graph : entries_) {
      storage_.view_count = std::max(storage_.view_count, views_needed(*graph));
    }
    return std::move(storage_);
  }

 private:
  // Plan order: each graph's nodes stand together, sub-graphs behind the graph that holds them.
  void place_graph(const Graph& root) {
    std::deque<std::pair<const Graph*, uint32_t>> pending{{&root, kNone}};
    while (!pending.empty()) {
      const auto [graph, parent] = pending.front();
      pending.pop_front();
      PlacedGraph placed{static_cast<uint32_t>(storage_.nodes.size()),
                         static_cast<uint32_t>(graph->nodes().size()), parent};
      storage_.graphs.push_back(placed);
      for (const auto& node : graph->nodes()) {
        const auto index = static_cast<uint32_t>(storage_.nodes.size());
        PlacedNode entry{node.get(), 0, {}};
        entry.inputs.assign(node->inputs.begin(), node->inputs.end());
        entry.outputs.assign(node->outputs.begin(), node->outputs.end());
        if (node->op->repeats()) add_loop_operands(entry);
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
        // A loop reads its body's results after the last node, which must not overwrite them.
        if (node->op->repeats()) ++next_step_;
        end_of_[sub.graph.get()] = next_step_ - 1;
      }
      if (!node->graphs.empty()) ++next_step_;
      last_step_[node.get()] = next_step_ - 1;
    }
  }

  int step(const Node& node) const { return storage_.nodes[index_.at(&node)].step; }

  bool on_device(const Value& value) const {
    return value.producer != nullptr && lowering_.at(value.producer).writes_device;
  }

  /// A value from outside of a loop is read in every trip.
  void read(const Value* value, const Graph& graph, int32_t step) {
    for (const Graph* at = &graph; at != value->graph && at->owner() != nullptr;
         at = at->parent()) {
      if (at->owner()->op->repeats()) step = std::max(step, last_step_.at(at->owner()));
    }
    buffers_.touch(value, step);
  }

  void collect_lifetimes(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      const int32_t first = step(*node), last = last_step_.at(node.get());
      const bool loop = node->op->repeats();
      for (const Value* input : node->inputs) {
        if (input == nullptr || input->constant) continue;
        read(input, graph, first);
        // The condition of an If stays, so that in every node outputs lie apart from inputs.
        if (!loop) read(input, graph, last);
      }
      for (const Value* output : storage_.nodes[index_[node.get()]].outputs) {
        if (output == nullptr) continue;
        // The result of an If is written by its branches, before its last step; a loop's outputs
        // are written from the first trip on.
        if (loop) buffers_.touch(output, first);
        buffers_.touch(output, last);
      }
      for (const SubGraph& sub : node->graphs) {
        collect_lifetimes(*sub.graph);
        const auto& results = sub.graph->outputs();
        for (size_t i = 0; i < results.size(); ++i) {
          if (loop) {
            if (!results[i]->constant) read(results[i], *sub.graph, end_of_.at(sub.graph.get()));
            continue;
          }
          if (i >= node->outputs.size() || node->outputs[i] == nullptr) continue;
          buffers_.touch(results[i], end_of_.at(sub.graph.get()));
          buffers_.merge(node->outputs[i], results[i]);
          storage_.aliases[results[i]] = node->outputs[i];
        }
      }
    }
  }

  /// Lets what a loop carries lie in one place, as far as that is legal. Inner loops come first:
  /// where one begins to write what it returns to an outer one decides about that.
  void join_loops(bool in_place) {
    for (auto placed = storage_.nodes.rbegin(); placed != storage_.nodes.rend(); ++placed) {
      if (!placed->node->op->repeats()) continue;
      loops_.join(*placed, placed->step, last_step_.at(placed->node), in_place);
    }
  }

  void add_slot(const Value* value, bool read_only, const State* state) {
    Buffer& target = buffers_.of(value);
    target.is_slot = true;
    target.read_only = read_only;
    target.slot = static_cast<uint32_t>(storage_.slots.size());
    SlotPlan& slot = storage_.slots.emplace_back();
    slot.value = value;
    slot.read_only = read_only;
    slot.state = state != nullptr;
    if (state != nullptr) slot.initial = state->initial;
  }

  void add_ports(const Graph& graph) {
    for (const Value* input : graph.inputs()) {
      buffers_.touch(input, steps_.at(&graph).first);
      const State* state = state_read_by(input);
      const Value* shared = state != nullptr ? state->inputs.front() : input;
      if (shared == input) add_slot(input, true, state);
      if (state == nullptr) continue;
      buffers_.touch(input, 0);
      buffers_.touch(input, next_step_ - 1);
      if (shared == input) continue;
      buffers_.merge(shared, input);
      storage_.aliases[input] = shared;
    }
    for (const Value* output : graph.outputs()) {
      buffers_.touch(output, steps_.at(&graph).last);
      if (!is_state(states_, output)) add_slot(output, false, nullptr);
    }
  }

  /// Null where `input` is no state.
  const State* state_read_by(const Value* input) const {
    for (const State& state : states_) {
      const auto& inputs = state.inputs;
      if (std::find(inputs.begin(), inputs.end(), input) != inputs.end()) return &state;
    }
    return nullptr;
  }

  /// When an input or output must be kept beside its own entry point's runs: while others run.
  std::vector<StepRange> runs_of_others(const Buffer& buffer) const {
    std::vector<StepRange> others;
    if (!buffer.is_slot || storage_.slots[buffer.slot].state) return others;
    for (const Graph* graph : entries_) {
      if (graph != storage_.slots[buffer.slot].value->graph) others.push_back(steps_.at(graph));
    }
    return others;
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
      if (varying && (buffers_.of(input).read_only || !permitted(node).permits(0))) continue;
      // Another branch writes what this one only shows.
      if (storage_.aliases.count(node.output(0)) != 0 && buffers_.of(input).read_only) continue;
      if (!loops_.permit_view(input, node.output(0))) continue;
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
      if (node.op->view || !node.graphs.empty() || node.output(0) == nullptr) continue;
      for (int index = 0; index < static_cast<int>(node.inputs.size()); ++index) {
        if (!permitted(node).permits(index)) continue;
        const Value* input = node.input(index);
        if (input == nullptr || input->constant) continue;
        if (buffers_.of(input).last != placed.step || buffers_.of(input).read_only) continue;
        if (read_otherwise(node, buffers_.of(input))) continue;
        if (try_merge(input, node.output(0), /*writes=*/true)) break;
      }
    }
  }

  /// True if the node reads the buffer also where it may not be overwritten: a convolution whose
  /// input is its residual too. Twice among the permitted ones, as in Add(x, x), is legal.
  bool read_otherwise(const Node& node, const Buffer& shared) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value* input = node.inputs[i];
      if (input == nullptr || input->constant || &buffers_.of(input) != &shared) continue;
      if (!permitted(node).permits(static_cast<int>(i))) return true;
    }
    return false;
  }

  /// True if `port` is that of an entry point and the other buffer has a value of another one,
  /// which must neither change it nor lie in what the caller may bind or still read.
  bool is_foreign(const Buffer& port, const Buffer& other) const {
    if (!port.is_slot) return false;
    const Graph* root = &storage_.slots[port.slot].value->graph->root();
    return std::any_of(other.members.begin(), other.members.end(),
                       [root](const Value* value) { return &value->graph->root() != root; });
  }

  /// True if `buffer` is a state that takes another value while `kept` is in use.
  bool changes_under(const Buffer& buffer, const Buffer& kept) const {
    if (!buffer.is_slot || !storage_.slots[buffer.slot].state) return false;
    const State& state = *state_read_by(storage_.slots[buffer.slot].value);
    return std::any_of(state.sources.begin(), state.sources.end(), [&](const Value* source) {
      const int32_t end = steps_.at(source->graph).last;
      return kept.first <= end && end < kept.last;
    });
  }

  /// Whether values of `from` may lie in `to`, if that is a caller's buffer.
  bool fits_elements(const Buffer& from, const Buffer& to) const {
    if (!to.is_slot) return true;
    const int bits = element_bits(storage_.slots[to.slot].value->type);
    return std::all_of(from.members.begin(), from.members.end(),
                       [&](const Value* value) { return element_bits(value->type) <= bits; });
  }

  bool try_merge(const Value* input, const Value* output, bool writes) {
    const Buffer& from = buffers_.of(input);
    const Buffer& to = buffers_.of(output);
    if (&from == &to || from.device != to.device) return false;
    if (from.is_slot && to.is_slot) return false;
    if (is_foreign(to, from) || (writes && is_foreign(from, to))) return false;
    if (changes_under(from, to)) return false;
    // A caller may bind a slot to a buffer of exactly its own size, and aligned for its elements.
    if (!fits_elements(from, to) || !fits_elements(to, from)) return false;
    if (from.is_slot && to.bytes > from.bytes) return false;
    if (to.is_slot && from.bytes > to.bytes) return false;
    const bool ranges_vary = varies(*input) || varies(*output);
    if ((writes || ranges_vary) && !same_bytes(*input, *output)) return false;
    if (writes && from.bytes != to.bytes) return false;
    if (buffers_.intersect(from, to, output)) return false;
    // Sharing must not let one value be overwritten while the other is still read: a view's bytes
    // change only if a later node writes the buffer, which merge_in_place excludes by lifetimes.
    if (from.read_only && from.is_slot && to.is_slot) return false;
    buffers_.merge(input, output);
    return true;
  }

  static int32_t alignment_for(int64_t bytes) { return bytes >= 4096 ? 64 : 16; }

  /// Plans the host's arena or the device's. Returns the bytes of its tensors and the figure that
  /// they are held against: the most that is live at once in this order, each buffer counted once
  /// and without padding.
  std::pair<int64_t, int64_t> plan(const StorageOptions& options, bool device) {
    std::vector<PlannedBuffer> planned;
    std::vector<const Buffer*> owner;
    for (const Buffer& entry : buffers_.all()) {
      if (entry.parent >= 0 || entry.device != device) continue;
      owner.push_back(&entry);
      planned.push_back({entry.bytes, entry.first, std::max(entry.first, entry.last),
                         alignment_for(entry.bytes), -1, runs_of_others(entry)});
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
      if (lowered.state_bytes > 0) {
        states.emplace_back(placed.node, (state_bytes + 63) / 64 * 64);
        state_bytes = states.back().second + lowered.state_bytes;
      }
    }
    // The verifier wants all states in one range, in the nodes' order.
    const size_t state_range = planned.size();
    if (!states.empty()) planned.push_back({state_bytes, 0, next_step_ - 1, 64, -1, {}});
    PlannerOptions planner;
    planner.max_steps = options.planner_steps;
    const MemoryPlan result = options.plan(planned, planner);
    if (result.refused >= 0) refuse(result.refused, owner, workspaces);
    if (!result.error.empty()) throw Error("memory planning failed: " + result.error);

    for (size_t i = 0; i < owner.size(); ++i) {
      const Buffer& entry = *owner[i];
      const int64_t offset = planned[i].offset;
      const Memory arena = device ? Memory::kDeviceArena : Memory::kArena;
      for (const Value* value : entry.members) {
        storage_.places[value] =
            entry.is_slot ? Place{Memory::kSlot, offset, entry.slot} : Place{arena, offset, 0};
      }
      if (entry.is_slot) storage_.slots[entry.slot].offset = offset;
    }
    for (const auto& [node, index] : workspaces) storage_.workspaces[node] = planned[index].offset;
    for (const auto& [node, offset] : states) {
      storage_.node_states[node] = planned[state_range].offset + offset;
    }
    return {(result.total + 15) / 16 * 16, result.lower_bound};
  }

  /// Throws an error about the tensor or the workspace that is buffer `refused` of the planner's.
  [[noreturn]] void refuse(int32_t refused, const std::vector<const Buffer*>& owner,
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
    if (static_cast<size_t>(refused) < owner.size()) {
      const Value& value = *owner[static_cast<size_t>(refused)]->members.front();
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
      size_t own = node->inputs.size() + node->outputs.size();
      // As many operands again are the body's; some of them are the node's already.
      if (node->op->repeats()) {
        const Graph& body = *node->graphs[0].graph;
        own += 2 + body.inputs().size() + body.outputs().size();
      }
      most = std::max(most, static_cast<uint32_t>(own) + nested);
    }
    return most;
  }

  const std::span<Graph* const> entries_;
  const Lowering& lowering_;
  const std::vector<State>& states_;
  Storage storage_;
  std::unordered_map<const Node*, uint32_t> index_;
  std::unordered_map<const Node*, int32_t> last_step_;
  std::unordered_map<const Graph*, int32_t> end_of_;   // last step of a branch
  std::unordered_map<const Graph*, StepRange> steps_;  // of the entry points
  Buffers buffers_;
  LoopMemory loops_;
  std::unordered_set<const Node*> elided_;
  int32_t next_step_ = 0;
};

}  // namespace

bool is_state(const std::vector<State>& states, const Value* value) {
  return std::any_of(states.begin(), states.end(), [value](const State& state) {
    return std::find(state.inputs.begin(), state.inputs.end(), value) != state.inputs.end() ||
           std::find(state.sources.begin(), state.sources.end(), value) != state.sources.end();
  });
}

Storage assign_storage(std::span<Graph* const> entries, const Lowering& lowering,
                       const std::vector<State>& states, const StorageOptions& options) {
  Storage storage = Assigner(entries, lowering, states).run(options);
  storage.strings = plan_strings(entries, lowering, options.max_string);
  if (!storage.strings.ends.empty()) {
    storage.tensor_bytes += storage.strings.ends.back();
    storage.lower_bound_bytes += storage.strings.ends.back();
  }
  place_weights(storage, lowering, false);
  place_weights(storage, lowering, true);
  return storage;
}

}  // namespace intarsia::converter
