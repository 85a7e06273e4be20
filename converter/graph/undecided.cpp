// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/undecided.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace intarsia::converter {
namespace {

/// The model's inputs that a value is computed from, by name. No recursion: chains may be long.
std::vector<const Value*> inputs_behind(const Value* value) {
  std::vector<const Value*> inputs, open{value};
  std::set<const Value*> seen;
  const auto add = [&open](const Value* needed) { open.push_back(needed); };
  while (!open.empty()) {
    const Value* next = open.back();
    open.pop_back();
    if (next == nullptr || !seen.insert(next).second) continue;
    if (next->producer != nullptr) for_each_needed(*next->producer, add);
    if (!next->is_input) continue;
    if (next->graph->parent() == nullptr) inputs.push_back(next);
    // What a body is given comes from outside.
    if (next->graph->owner() != nullptr) for_each_needed(*next->graph->owner(), add);
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const Value* a, const Value* b) { return a->name < b->name; });
  return inputs;
}

bool decides(const Value& input) {
  return input.type == DataType::kInt64 || input.type == DataType::kInt32 ||
         input.type == DataType::kBool;
}

}  // namespace

UndecidedError undecided(const Node& node, std::string message, const Value* deciding) {
  std::vector<const Value*> behind = inputs_behind(deciding);
  if (std::any_of(behind.begin(), behind.end(), [](const Value* v) { return decides(*v); })) {
    std::erase_if(behind, [](const Value* value) { return !decides(*value); });
  }
  std::vector<std::string> names, options;
  for (const Value* input : behind) {
    options.push_back(fmt::format("--value {}=VALUE", input->name));
    if (decides(*input)) names.push_back(input->name);
  }
  std::string hint = "fix the extents that decide it with --shape or --dim";
  if (!options.empty()) {
    hint = fmt::format("decide it with {}; --fix instead of --value takes the input{} away",
                       fmt::join(options, " "), options.size() > 1 ? "s" : "");
  }
  return {{node.problem(std::move(message), std::move(hint))}, std::move(names)};
}

}  // namespace intarsia::converter
