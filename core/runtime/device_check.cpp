// SPDX-License-Identifier: Apache-2.0
//
// What `open` proves of the nodes of an untrusted plan for a device: kernels of the device get
// memory of the device, and those of the host the host's. Only transfers get both.
#include "core/runtime/session_state.h"

namespace intarsia {

Status check_operand_memory(const SessionState& state, const KernelContext& context,
                            const Kernel& kernel) {
  const plan::Node& node = state.plan.nodes[context.node()];
  const bool device = state.device->device.has(&kernel);
  const bool reads = device && kernel.key != kernel_key(kToDevice);
  const bool writes = device && kernel.key != kernel_key(kToHost);
  const uint32_t* operands = static_cast<const Frame*>(context.runtime_)->operands;
  for (uint32_t i = 0; i < operand_count(node); ++i) {
    const uint32_t operand = operands[i];
    if (operand == kNone) continue;
    const bool found = on_device(static_cast<Memory>(state.plan.tensors[operand].memory()));
    const bool expected = i < node.inputs() ? reads : writes;
    if (found == expected) continue;
    return context.fail(Code::kCorruptPlan, "memory of the operand (0 host, 1 device)",
                        expected ? 1 : 0, found ? 1 : 0, static_cast<int>(i));
  }
  return {};
}

}  // namespace intarsia
