// SPDX-License-Identifier: Apache-2.0
//
// Kernel descriptors (core/kernel_descriptor.h) as host tools hold them.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_descriptor.h"

namespace intarsia {

namespace definitions {
using intarsia::KernelDescriptor;

/// A kernel as host tools know it: its descriptor, and what only kernels of the program's own have
/// (intarsia/operator.h).
struct KernelRow : KernelDescriptor {
  KernelRow() = default;
  KernelRow(const KernelDescriptor& descriptor) : KernelDescriptor(descriptor) {}  // NOLINT

  /// Takes the place of the kernels that there are for the same operator and types.
  bool replaces = false;
  /// Bytes of per-node state at planned extents; null if they are always `state_bytes`.
  int64_t (*state_at)(const KernelContext&) = nullptr;

  int64_t state(const KernelContext& context) const {
    return state_at != nullptr ? state_at(context) : state_bytes;
  }
};

/// Kernels of many lists.
using KernelRows = std::vector<KernelRow>;
}  // namespace definitions

/// A kernel for people: "Conv.packed<float>", "Gather<32 bits, int64>", "domain:Op.cuda<float>".
std::string kernel_text(const KernelId& id);
/// Its id as C++ spells it: `{"Conv", "packed", {DataType::kFloat}}`. The same text for every
/// target and compiler.
std::string kernel_id_text(const KernelId& id);

}  // namespace intarsia
