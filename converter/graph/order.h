// SPDX-License-Identifier: Apache-2.0
//
// Operator order: the order of execution decides which values are live at once.
#pragma once

#include "converter/graph/graph.h"
#include "converter/memory/storage.h"

namespace intarsia::converter {

/// Assigns storage to the graphs of the entry points: each in its given order and in one that the
/// planner expects to need less memory. Leaves it in the better of the two. Sub-graphs keep their
/// order. REQUIRES: as `assign_storage`.
Storage assign_storage_reordered(std::span<Graph* const> entries, const Lowering& lowering,
                                 const std::vector<State>& states,
                                 const StorageOptions& options = {});

}  // namespace intarsia::converter
