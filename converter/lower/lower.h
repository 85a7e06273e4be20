// SPDX-License-Identifier: Apache-2.0
//
// Lowering: chooses a kernel for every node, packs the weights it wants packed, sizes its
// workspace.
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/kernel_selection.h"
#include "converter/memory/storage.h"
#include "converter/passes/placement.h"
#include "converter/progress.h"

namespace intarsia::converter {

struct LoweringOptions {
  /// Kernels to choose from, of all devices.
  const definitions::KernelRows* rows = nullptr;
  KernelChoice choice;
  /// Threads that workspace is planned for.
  int threads = 1;
  /// The nodes that take a kernel of the device.
  Placement placement;
  Progress* progress = nullptr;  ///< Of the stage that the nodes of the main graph are.
};

/// Chooses kernels for the model's graph and nested graphs and replaces weights by packed ones.
/// Throws Error with every node that no kernel serves.
Lowering lower(const Model& model, const LoweringOptions& options);

}  // namespace intarsia::converter
