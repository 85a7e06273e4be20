// SPDX-License-Identifier: Apache-2.0
//
// Lays each output of a node over each of its inputs, as a hostile plan does: `open` or the run
// refuses that, or the node computes what it computes with its operands apart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "test/random/random_model.h"

namespace intarsia::test {

struct Overlaps {
  /// Pairs that were tried, by what came of them.
  int64_t refused_at_open = 0, refused_at_run = 0, agreed = 0;
  /// Pairs by name of the kernel.
  std::map<std::string, int64_t> kernels;
  std::vector<std::string> failures;
};

/// Every node of the model that has no branches, alone: with its reference kernel and the one that
/// plans use, at fixed extents and, where its inputs' extents are symbols, at varying ones.
void try_overlaps(const RandomModel& model, const converter::OperatorLibrary& library,
                  Overlaps& overlaps);

}  // namespace intarsia::test
