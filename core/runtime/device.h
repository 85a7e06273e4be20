// SPDX-License-Identifier: Apache-2.0
//
// The accelerator of a session. Core only adds places to its addresses: what the memory is, how it
// is filled and what the queue means is known to the device's session and kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "intarsia/kernel_set.h"

namespace intarsia {

/// The two operators that cross between the memories; all others stay on one side.
inline constexpr KernelId kToDevice{"intarsia:ToDevice", "cuda", {}};
inline constexpr KernelId kToHost{"intarsia:ToHost", "cuda", {}};

struct SessionState;
/// Fails unless the operands of a node lie in the memory that its kernel reads and writes.
Status check_operand_memory(const SessionState& state, const KernelContext& context,
                            const Kernel& kernel);

/// As kernels find it: `context.service(kDeviceService)`.
struct Device {
  std::byte* arena = nullptr;              // device memory, PlanInfo::device_arena_bytes
  std::byte* weights = nullptr;            // device memory, filled by the device's session
  void* queue = nullptr;                   // where work is queued: a stream
  std::span<const Kernel* const> kernels;  // with operands on the device; sorted by key

  /// A pointer, so that programs of the CPU do not link it: no tensor of theirs is on a device.
  Status (*check)(const SessionState&, const KernelContext&, const Kernel&) = &check_operand_memory;

  bool has(const Kernel* kernel) const {
    for (const Kernel* each : kernels) {
      if (each == kernel) return true;
    }
    return false;
  }
};
inline constexpr uint64_t kDeviceService = 0x6465766963650001u;

}  // namespace intarsia
