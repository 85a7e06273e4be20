// SPDX-License-Identifier: Apache-2.0
//
// The optimisation passes, as one list.
//
// What must be done to any model (versions converted, attributes read, types and extents inferred)
// is no pass. Every prefix of the list makes a plan that computes the same: without any pass, each
// node of the model is executed as it was imported, by its reference kernel, on memory of its own.
// `verify` and the random models compare the whole list with none, and walk it to name the pass
// that changes a result.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"
#include "converter/graph/kernel_selection.h"
#include "converter/memory/storage.h"
#include "converter/passes/halves.h"

namespace intarsia::converter {

/// What passes decide about the making of the plan, once the graph is final.
struct PlanChoices {
  Preference kernels = Preference::kReference;
  /// Nodes that have a kernel on the device run there, if the user has asked for one.
  bool use_device = false;
  /// Given by the caller where the user has asked for float16: its kernels on the host, and on the
  /// device if nodes shall run there.
  std::optional<HalfKernels> halves;
  std::optional<HalfKernels> device_halves;
  /// The order of execution may change, to save memory.
  bool reorder = false;
  StorageOptions storage;
};

struct Pass {
  std::string_view name;
  void (*apply)(Graph& graph, Inference& inference, PlanChoices& choices);
};

/// All passes in their order; the list lives as long as the program.
std::span<const Pass> optimisation_passes();

/// A copy of the list without the passes of these names, to compare plans that differ in them
/// alone.
std::vector<Pass> passes_without(std::initializer_list<std::string_view> names);

}  // namespace intarsia::converter
