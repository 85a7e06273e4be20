// SPDX-License-Identifier: Apache-2.0
//
// The FlatBuffers code of core/plan.fbs. The only place that includes it: FlatBuffers' assertions
// would link abort, and what they state about a plan is verified as data (core/runtime/verifier.h).
#pragma once

#ifndef FLATBUFFERS_ASSERT
#define FLATBUFFERS_ASSERT(condition) static_cast<void>(condition)
#endif

#include "core/plan_file.h"
#include "core/plan_generated.h"

namespace intarsia {

/// Operands of a node: inputs, outputs, workspace, state.
inline uint32_t operand_count(const plan::Node& node) {
  static_assert(kHasState == 2 * kHasWorkspace && kHasState == 0x8000);
  const uint32_t flags = node.shape() / kHasWorkspace;
  return uint32_t{node.inputs()} + node.outputs() + (flags & 1) + (flags >> 1);
}
/// Where the list of a node begins among the plan's operands: the lists lie one behind another. For
/// tools and tests; takes time in the number of nodes.
inline uint32_t first_operand(const plan::Plan& plan, uint32_t node) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < node; ++i) first += operand_count(*plan.nodes()->Get(i));
  return first;
}

}  // namespace intarsia
