// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/order.h"

#include <algorithm>
#include <numeric>

#include "converter/graph/kernel_selection.h"
#include "converter/memory/planner.h"

namespace intarsia::converter {
namespace {

class ProblemBuilder {
 public:
  ProblemBuilder(const Graph& graph, const Lowering& lowering) : graph_(graph) {
    for (const Value* input : graph.inputs()) at(input).live_at_start = true;
    for (const auto& node : graph.nodes()) add(*node, lowering.at(node.get()));
    for (const Value* output : graph.outputs()) at(output).live_at_end = true;
    for (const auto& node : graph.nodes()) {
      for (const Value* output : node->outputs) {
        if (output != nullptr && is_read_behind(*output)) at(output).live_at_end = true;
      }
    }
  }

  OrderProblem take(int64_t max_steps) {
    problem_.max_steps = max_steps;
    return std::move(problem_);
  }

 private:
  /// True if an entry point that continues this one reads the value.
  bool is_read_behind(const Value& value) const {
    return std::any_of(value.uses.begin(), value.uses.end(), [this](const Use& use) {
      return &(use.node != nullptr ? use.node->graph : use.graph)->root() != &graph_;
    });
  }

  int32_t buffer(const Value* value) {
    const auto [found, inserted] =
        buffers_.try_emplace(value, static_cast<int32_t>(problem_.buffers.size()));
    if (inserted) {
      problem_.buffers.push_back({checked_byte_size(value->type, planned_extents(*value))});
    }
    return found->second;
  }
  OrderBuffer& at(const Value* value) {
    return problem_.buffers[static_cast<size_t>(buffer(value))];
  }

  void add(const Node& node, const LoweredNode& lowered) {
    OrderNode entry;
    entry.workspace = lowered.workspace_bytes;
    for_each_needed(node, [&](const Value* value) {
      if (value->constant) return;
      if (&value->graph->root() != &graph_) {  // left by the run that this entry point continues
        at(value).live_at_start = true;
        entry.inputs.push_back(buffer(value));
        return;
      }
      if (value->graph != &graph_) return;
      entry.inputs.push_back(buffer(value));
      if (value->producer != nullptr) entry.after.push_back(index_.at(value->producer));
    });
    for (const Value* output : node.outputs) {
      if (output == nullptr) continue;
      const Value* viewed = node.op->view ? node.input(0) : nullptr;
      if (viewed != nullptr && viewed->graph == &graph_ && !viewed->constant) {
        buffers_[output] = buffer(viewed);
      } else {
        entry.outputs.push_back(buffer(output));
      }
    }
    index_[&node] = static_cast<int32_t>(problem_.nodes.size());
    problem_.nodes.push_back(std::move(entry));
  }

  const Graph& graph_;
  OrderProblem problem_;
  std::unordered_map<const Value*, int32_t> buffers_;
  std::unordered_map<const Node*, int32_t> index_;
};

void arrange(Graph& graph, const std::vector<Node*>& nodes) {
  for (Node* node : nodes) graph.move_before(node, nullptr);
}

}  // namespace

Storage assign_storage_reordered(std::span<Graph* const> entries, const Lowering& lowering,
                                 const std::vector<State>& states, const StorageOptions& options) {
  // Well under a second.
  const int64_t max_steps = std::min<int64_t>(options.planner_steps, 20'000'000);
  Storage best = assign_storage(entries, lowering, states, options);
  for (Graph* graph : entries) {
    const std::vector<Node*> nodes = graph->node_list();
    std::vector<Node*> reordered;
    for (int32_t index : order_for_memory(ProblemBuilder(*graph, lowering).take(max_steps))) {
      reordered.push_back(nodes[static_cast<size_t>(index)]);
    }
    if (reordered == nodes) continue;
    arrange(*graph, reordered);
    Storage other = assign_storage(entries, lowering, states, options);
    // The search does not know of results computed in place, so its gain is only a guess.
    if (other.tensor_bytes < best.tensor_bytes) {
      best = std::move(other);
    } else {
      arrange(*graph, nodes);
    }
  }
  return best;
}

}  // namespace intarsia::converter
