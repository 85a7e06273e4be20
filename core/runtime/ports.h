// SPDX-License-Identifier: Apache-2.0
//
// Entry points and ports of a plan, by index. Entries and ports that do not exist are null.
#pragma once

#include "core/runtime/session_state.h"

namespace intarsia {

using Ports = flatbuffers::Vector<flatbuffers::Offset<plan::Port>>;

const plan::Entry* entry_at(const SessionState* state, int index);
const Ports* inputs_of(const SessionState* state, int entry);
const Ports* outputs_of(const SessionState* state, int entry);

inline int size_of(const Ports* ports) {
  return ports != nullptr ? static_cast<int>(ports->size()) : 0;
}
/// A port of the list. One that does not exist is reported, with `what` for the index.
const plan::Port* port_at(SessionState& state, const Ports* ports, int index, const char* what);

/// What a run of the entry point has left no longer belongs to its inputs.
inline void forget_run(SessionState& state, int entry) {
  if (state.completed == static_cast<uint32_t>(entry)) state.completed = kNone;
}

/// The tensor that lies in a slot.
inline const plan::Tensor& tensor_in(const SessionState& state, uint32_t slot) {
  return state.plan.tensors[state.plan.slots[slot].tensor()];
}
}  // namespace intarsia
