// SPDX-License-Identifier: Apache-2.0
//
// What lies behind an `intarsia_session`: the C++ session and what C asks for besides, at the begin
// of the arena, in front of the session's own part.
#pragma once

#include <cstring>
#include <span>

#include "core/runtime/ports.h"
#include "intarsia/c_kernels.h"

/// Memory that a session frees when it is closed (core/c_api/host/).
struct intarsia_owned {
  intarsia_owned* next;
};

struct intarsia_session {
  static constexpr uint32_t kOpen = 0x496e5472;
  /// kOpen while it is open, so that a call after `intarsia_close` is an error.
  uint32_t state = kOpen;
  uint32_t reserved = 0;
  /// A bit for each of the first 64 entry points: its last run succeeded.
  uint64_t has_run = 0;
  intarsia::Session session;
  intarsia_owned* owned = nullptr;
  /// Frees `owned`, and what the handle itself lies in, last; null without heap.
  void (*release)(intarsia_owned* owned) = nullptr;
  char message[200] = {};
};
static_assert(sizeof(intarsia_session) <= INTARSIA_SESSION_BYTES &&
              INTARSIA_SESSION_BYTES % INTARSIA_ALIGNMENT == 0);

namespace intarsia::c {

/// The C++ session, or null if the handle is none.
inline Session* session_of(const intarsia_session* handle) {
  if (handle == nullptr || handle->state != intarsia_session::kOpen) return nullptr;
  return &const_cast<intarsia_session*>(handle)->session;
}
inline SessionState* state_of(const intarsia_session* handle) {
  const Session* session = session_of(handle);
  return session != nullptr ? SessionAccess::state(*session) : nullptr;
}

inline intarsia_code code_of(Status status) {
  return static_cast<intarsia_code>(status.code());
}

/// Records a failure of this layer's with the session, if there is one.
inline intarsia_code fail(const intarsia_session* handle, Code code, const char* what,
                          int64_t expected = 0, int64_t found = 0, int operand = -1) {
  SessionState* state = state_of(handle);
  return code_of(state != nullptr ? state->fail(code, what, expected, found, operand)
                                  : Status(Code::kInvalidArgument));
}

/// Copies as much of `value` as the caller's struct has room for. False if there is none.
template <class T>
bool deliver(const T& value, T* target) {
  if (target == nullptr || target->struct_size < sizeof(size_t)) return false;
  const size_t size = target->struct_size < sizeof(T) ? target->struct_size : sizeof(T);
  std::memcpy(reinterpret_cast<char*>(target) + sizeof(size_t),
              reinterpret_cast<const char*>(&value) + sizeof(size_t), size - sizeof(size_t));
  return true;
}
/// The caller's struct, with zeros for what its version lacks; all zeros for null.
template <class T>
T accept(const T* source) {
  T value{};
  if (source == nullptr) return value;
  const size_t size = source->struct_size < sizeof(T) ? source->struct_size : sizeof(T);
  std::memcpy(&value, source, size);
  return value;
}

intarsia_diagnostic to_c(const Diagnostic& diagnostic);
Diagnostic from_c(const intarsia_diagnostic& diagnostic);

/// A port of the plan and its place among the session's, by kind; null if there is none, which is
/// reported.
const plan::Port* port_of(const intarsia_session* handle, int entry, intarsia_kind kind, int index);

inline void note_run(intarsia_session& handle, int entry, Status status) {
  if (entry < 0 || entry >= 64 || status == Code::kBusy) return;
  const uint64_t bit = uint64_t{1} << entry;
  handle.has_run = status.ok() ? handle.has_run | bit : handle.has_run & ~bit;
}
inline bool has_run(const intarsia_session& handle, int entry) {
  return entry >= 64 || (handle.has_run >> entry & 1) != 0;
}

}  // namespace intarsia::c
