// SPDX-License-Identifier: Apache-2.0
//
// Room for the characters of strings. Elements have room like those of other types; what they refer
// to is planned for all strings of an entry point together: those of its inputs, and those that its
// nodes make. Strings that nodes only move need none.
#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/kernel_selection.h"
#include "converter/graph/sequence.h"
#include "converter/graph/strings.h"
#include "converter/memory/storage.h"

namespace intarsia::converter {
namespace {

/// Strings in a value, at most.
int64_t strings_in(const Value& value) {
  if (!may_hold_strings(value)) return 0;
  int64_t count = 1;
  for (int64_t extent : planned_extents(value)) count *= extent;
  return holds_elements(value.type) ? count / static_cast<int64_t>(sizeof(StringRef)) : count;
}

/// A kernel that accepts elements of 64 bits moves strings; one that names their type makes some.
bool makes_strings(const Node& node, const definitions::KernelRow& kernel) {
  return node.op->makes_strings ||
         std::any_of(kernel.id.types.begin(), kernel.id.types.end(),
                     [](KernelType type) { return type == KernelType(DataType::kString); });
}

class StringPlanner {
 public:
  StringPlanner(const Lowering& lowering, int64_t max_string)
      : lowering_(lowering), max_string_(max_string) {}

  StringPlan run(std::span<Graph* const> entries) {
    for (Graph* graph : entries) {
      for_each_value(*graph, [this](Value& value) { see(value); });
      for (const Value* input : graph->inputs()) add(strings_in(*input), 1, input->name);
      add_nodes(*graph, 1);
      plan_.ends.push_back(static_cast<uint32_t>(bytes_));
    }
    if (!found_) plan_.ends.clear();
    return std::move(plan_);
  }

 private:
  void see(const Value& value) {
    found_ = found_ || may_hold_strings(value);
    if (!value.constant || value.constant->characters == nullptr) return;
    std::vector<std::byte> elements = with_strings_in(*value.constant, plan_.constants);
    plan_.values[&value] =
        Constant::own(value.constant->type, value.constant->extents, std::move(elements));
  }

  void add_nodes(const Graph& graph, int64_t trips) {
    for (const auto& node : graph.nodes()) {
      if (makes_strings(*node, *lowering_.at(node.get()).kernel)) {
        for (const Value* output : node->outputs) {
          if (output == nullptr) continue;
          if (trips == definitions::kInfinite && may_hold_strings(*output)) ask_for_trips(*node);
          add(strings_in(*output), trips, output->name);
        }
      }
      const int64_t times = !node->op->repeats()                        ? 1
                            : node->most_trips < definitions::kInfinite ? node->most_trips
                                                                        : definitions::kInfinite;
      const bool unknown = times == definitions::kInfinite || trips == definitions::kInfinite;
      for (const SubGraph& sub : node->graphs) {
        add_nodes(*sub.graph, unknown ? definitions::kInfinite
                                      : std::min(times, kMost) * std::min(trips, kMost));
      }
    }
  }

  void add(int64_t strings, int64_t trips, const std::string& name) {
    if (strings == 0 || trips == 0 || max_string_ == 0) return;
    if (strings > kMost / max_string_ / trips || bytes_ + strings * max_string_ * trips > kMost) {
      throw Error(fmt::format("with '{}', the strings of the plan have more than {} characters",
                              name, kMost),
                  "lower --max-string, the maxima of symbolic dimensions (--dim) or --max-trips");
    }
    bytes_ += strings * max_string_ * trips;
  }

  [[noreturn]] static void ask_for_trips(const Node& node) {
    const Node* loop = node.graph->owner();
    while (!loop->op->repeats() || loop->most_trips < definitions::kInfinite) {
      loop = loop->graph->owner();
    }
    throw UnboundedError(node.problem(
        fmt::format("makes strings in '{}', and the number of its trips is not known", loop->name),
        fmt::format("declare it with --max-trips {}=N", loop->name)));
  }

  static constexpr int64_t kMost = StringPool::kMostBytes;
  const Lowering& lowering_;
  const int64_t max_string_;
  StringPlan plan_;
  int64_t bytes_ = 0;
  bool found_ = false;
};

}  // namespace

StringPlan plan_strings(std::span<Graph* const> entries, const Lowering& lowering,
                        int64_t max_string) {
  return StringPlanner(lowering, max_string).run(entries);
}

}  // namespace intarsia::converter
