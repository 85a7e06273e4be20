// SPDX-License-Identifier: Apache-2.0
//
// Buffers of the caller in place of the arena's.
#include "core/runtime/ports.h"

namespace intarsia {
namespace {

/// True if [a, a + a_bytes) and [b, b + b_bytes) have a byte in common.
bool overlap(const void* a, uint64_t a_bytes, const void* b, uint64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 &&
         (first <= second ? second - first < a_bytes : first - second < b_bytes);
}

bool is_bound(const SessionState& state, uint32_t slot) {
  return state.slots[slot] != planned_buffer(state, slot);
}
/// Bytes of a slot's buffer.
uint64_t slot_bytes(const SessionState& state, uint32_t slot) {
  const plan::Tensor& tensor = tensor_in(state, slot);
  return static_cast<uint64_t>(TensorView{nullptr, state.plan.extents + tensor.extents(),
                                          static_cast<DataType>(tensor.type()), tensor.rank()}
                                   .bytes());
}

/// Buffers that the caller has bound may be the same memory only if nothing writes there. Looked at
/// when a run begins, so that a program may exchange buffers one after the other.
Status check_bindings(SessionState& state) {
  for (uint32_t i = 0; i < state.plan.slot_count; ++i) {
    if (!is_bound(state, i)) continue;
    for (uint32_t j = 0; j < i; ++j) {
      const uint32_t both = state.plan.slots[i].flags() & state.plan.slots[j].flags();
      if (!is_bound(state, j) || (both & kReadOnlySlot) != 0) continue;
      if (overlap(state.slots[i], slot_bytes(state, i), state.slots[j], slot_bytes(state, j))) {
        return state.fail(Code::kInvalidArgument, "buffers bound to two ports overlap (slots)", j,
                          i);
      }
    }
  }
  state.check_bindings = nullptr;
  return {};
}

Status bind_port(SessionState* state, const Ports* ports, int entry, int index, void* buffer,
                 size_t bytes, const char* what) {
  if (state == nullptr) return Code::kInvalidArgument;
  const plan::Port* port = port_at(*state, ports, index, what);
  if (port == nullptr) return Code::kInvalidArgument;
  forget_run(*state, entry);
  const plan::Slot& slot = state->plan.slots[port->slot()];
  if (buffer == nullptr) {
    state->slots[port->slot()] = planned_buffer(*state, port->slot());
    return {};
  }
  const auto type = static_cast<DataType>(state->plan.tensors[slot.tensor()].type());
  const uint64_t planned = slot_bytes(*state, port->slot());
  if (bytes < planned) {
    return state->fail(Code::kInvalidArgument, "bytes of the bound buffer",
                       static_cast<int64_t>(planned), static_cast<int64_t>(bytes), index);
  }
  // The session begins where its arena does.
  if (overlap(buffer, planned, state, state->plan.root->memory()->arena_bytes())) {
    return state->fail(Code::kInvalidArgument, "bound buffer in the session's arena", 0, 0, index);
  }
  if ((slot.flags() & kReadOnlySlot) == 0 &&
      overlap(buffer, planned, state->bytes.data(), state->bytes.size())) {
    return state->fail(Code::kInvalidArgument, "bound buffer in the plan's bytes", 0, 0, index);
  }
  const auto alignment =
      static_cast<uintptr_t>(element_bits(type) > 8 ? element_bits(type) / 8 : 1);
  const uintptr_t natural = alignment > 8 ? 8 : alignment;
  if (reinterpret_cast<uintptr_t>(buffer) % natural != 0) {
    return state->fail(Code::kInvalidArgument, "alignment of the bound buffer",
                       static_cast<int64_t>(natural),
                       static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffer) % natural), index);
  }
  state->slots[port->slot()] = buffer;
  state->check_bindings = &check_bindings;
  return {};
}

}  // namespace

Status Session::bind_input(int index, const void* buffer, size_t bytes, int entry) {
  // Nodes never write a graph input: the verifier refuses such plans.
  return bind_port(state_, inputs_of(state_, entry), entry, index, const_cast<void*>(buffer), bytes,
                   "input index (at most)");
}
Status Session::bind_output(int index, void* buffer, size_t bytes, int entry) {
  return bind_port(state_, outputs_of(state_, entry), entry, index, buffer, bytes,
                   "output index (at most)");
}

}  // namespace intarsia
