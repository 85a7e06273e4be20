// SPDX-License-Identifier: Apache-2.0
//
// What a plan says of extents that vary: an index into its symbols, kFixedExtent or kDerivedExtent
// (core/plan_file.h).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "converter/emit/plan_tables.h"

namespace intarsia::converter {

/// The symbols of a node's entry point, and the number in the plan of the first of them.
struct PlanSymbols {
  const definitions::SymbolTable* table = nullptr;
  int first = 0;
};

int32_t extent_rule(const definitions::Dim& extent, const PlanSymbols& symbols);

/// Plan::promised. REQUIRES: all outputs of the nodes are in `tables`.
std::vector<uint32_t> promised_extents(
    const Storage& storage, PlanTables& tables,
    const std::function<PlanSymbols(const Node& node)>& symbols_of);

}  // namespace intarsia::converter
