// SPDX-License-Identifier: Apache-2.0
//
// Lowering: chooses a kernel for every node, packs the weights it wants packed, sizes its
// workspace.
#pragma once

#include "converter/graph.h"
#include "converter/kernel_selection.h"
#include "converter/placement.h"
#include "converter/storage.h"

namespace intarsia::converter {

struct LoweringOptions {
  /// Kernels to choose from, in order of preference.
  const definitions::KernelRows* rows = nullptr;
  KernelChoice choice;
  /// Threads that workspace is planned for.
  int threads = 1;
  /// Kernels of the device, and the nodes that take theirs from these.
  const definitions::KernelRows* device_rows = nullptr;
  Placement placement;
};

/// Chooses kernels for `graph` and nested graphs and replaces weights by packed ones. Throws Error
/// with every node that no kernel serves.
Lowering lower(Graph& graph, const LoweringOptions& options);

}  // namespace intarsia::converter
