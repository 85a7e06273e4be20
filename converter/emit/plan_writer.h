// SPDX-License-Identifier: Apache-2.0
//
// Writes a plan: FlatBuffers structure and weights segment, from a graph whose storage is assigned.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "converter/graph/graph.h"
#include "converter/memory/storage.h"

namespace intarsia::converter {

/// A kernel or shape function that a plan requires.
struct Requirement {
  uint64_t key = 0;
  std::string text;  ///< For people: "Conv.packed<float>".
  std::string
      key_cpp;  ///< `intarsia::kernel_key({"Conv", "packed", {intarsia::DataType::kFloat}})`
  ProgramSource source;
  bool device = false;  ///< A kernel of the device.
};

struct PlanSummary {
  uint64_t arena_bytes = 0;
  uint64_t metadata_bytes = 0;
  uint64_t workspace_bytes = 0;
  uint64_t padding_bytes = 0;
  uint64_t lower_bound_bytes = 0;
  uint64_t weights_bytes = 0;
  // Figures of the device; 0 where there is none.
  uint64_t device_arena_bytes = 0;
  uint64_t device_lower_bound_bytes = 0;
  uint64_t device_weights_offset = 0;
  uint64_t device_weights_bytes = 0;
  uint32_t segments = 0;
  uint64_t plan_bytes = 0;
  bool strings = false;  ///< There are tensors of strings.
  std::vector<Requirement> kernels;
  std::vector<Requirement> shapes;
};

struct PlanWriterOptions {
  int threads = 1;
  /// Leaves out the names of nodes, operators and kernels.
  bool strip_names = false;
};

struct PlanFile {
  std::vector<std::byte> bytes;
  PlanSummary summary;
};

/// A model that becomes an entry point.
struct PlanEntry {
  std::string name;
  const Model* model = nullptr;
};

/// The entries are those that `storage` was made for. Where there are several, nodes and symbols
/// are named after them: "step:conv1".
PlanFile write_plan(std::span<const PlanEntry> entries, const Storage& storage,
                    const Lowering& lowering, const std::vector<State>& states,
                    const PlanWriterOptions& options);

}  // namespace intarsia::converter
