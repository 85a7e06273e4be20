// SPDX-License-Identifier: Apache-2.0
#include "converter/emit/extent_rules.h"

#include <algorithm>

namespace intarsia::converter {

int32_t extent_rule(const definitions::Dim& extent, const PlanSymbols& symbols) {
  if (is_constant(extent)) return kFixedExtent;
  const std::vector<int> used = extent.symbols();
  const bool alone = used.size() == 1 && symbols.table->dim(used[0]) == extent;
  return alone ? symbols.first + used[0] : kDerivedExtent;
}

std::vector<uint32_t> promised_extents(
    const Storage& storage, PlanTables& tables,
    const std::function<PlanSymbols(const Node& node)>& symbols_of) {
  std::vector<uint32_t> rules(tables.dynamic_extents, kNone);
  for (const PlacedNode& placed : storage.nodes) {
    if (!placed.node->op->promises_extents) continue;
    const PlanSymbols symbols = symbols_of(*placed.node);
    for (const Value* output : placed.outputs) {
      // Of a branch's result the If says what holds: another branch writes to the same place.
      const Value* value = output != nullptr ? tables.canonical(output) : nullptr;
      if (value == nullptr || !varies(*value)) continue;
      uint32_t place = tables.tensors[tables.tensor(value)].extents();
      for (int axis = 0; axis < value->shape->rank; ++axis, ++place) {
        const int32_t rule = extent_rule((*value->shape)[axis], symbols);
        if (rule == kFixedExtent) rules[place] = place;
        if (rule >= 0) rules[place] = tables.dynamic_extents + static_cast<uint32_t>(rule);
      }
    }
  }
  const bool nothing =
      std::all_of(rules.begin(), rules.end(), [](uint32_t rule) { return rule == kNone; });
  return nothing ? std::vector<uint32_t>() : rules;
}

}  // namespace intarsia::converter
