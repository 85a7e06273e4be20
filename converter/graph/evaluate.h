// SPDX-License-Identifier: Apache-2.0
//
// Executes single nodes offline, by the reference kernels and with memory of its own: for constant
// folding and for bounds that only a trial can tell.
#pragma once

#include <vector>

#include "converter/graph/graph.h"
#include "core/definitions/kernel_descriptor.h"
#include "intarsia/session.h"

namespace intarsia::converter {

/// Type and largest extents of an output.
struct OutputPlan {
  bool present = false;
  DataType type = DataType::kUndefined;
  std::vector<int64_t> extents;
};

/// Runs `node` on `inputs` (null where absent) and returns its outputs with their actual extents;
/// absent ones are empty. A kernel with state is created and destroyed around the run. Throws a
/// problem of that node if no kernel fits or the kernel fails.
std::vector<Constant> evaluate(const Node& node, const std::vector<const Constant*>& inputs,
                               const std::vector<OutputPlan>& outputs,
                               const definitions::KernelRows& rows,
                               std::span<const Service> services = {});

}  // namespace intarsia::converter
