// SPDX-License-Identifier: Apache-2.0
//
// Entry points, and inputs, outputs and states by number and by name.
#include "core/c_api/handle.h"

namespace intarsia::c {
namespace {

const Ports* ports_of(const SessionState* state, int entry, intarsia_kind kind) {
  if (state == nullptr) return nullptr;
  if (kind == INTARSIA_INPUT) return inputs_of(state, entry);
  if (kind == INTARSIA_OUTPUT) return outputs_of(state, entry);
  return kind == INTARSIA_STATE ? state->plan.root->state_ports() : nullptr;
}

const char* text_of(const flatbuffers::String* string) {
  return string != nullptr ? string->c_str() : "";  // both end with a zero byte
}

Result<Port> look_up(const Session& session, int entry, intarsia_kind kind, int index) {
  if (kind == INTARSIA_INPUT) return session.input_port(index, entry);
  return kind == INTARSIA_OUTPUT ? session.output_port(index, entry) : session.state(index);
}

bool is_kind(const intarsia_session* handle, intarsia_kind kind) {
  if (kind >= INTARSIA_INPUT && kind <= INTARSIA_STATE) return true;
  fail(handle, Code::kInvalidArgument, "kind of port (at most)", INTARSIA_STATE, kind);
  return false;
}

/// Elements of a type, or null with the reason.
void* data_of(intarsia_session* handle, int entry, intarsia_kind kind, int index,
              intarsia_type type) {
  if (port_of(handle, entry, kind, index) == nullptr) return nullptr;
  const TensorView tensor = look_up(*session_of(handle), entry, kind, index)->tensor;
  if (type != static_cast<intarsia_type>(tensor.type)) {
    fail(handle, Code::kWrongType, "element type", static_cast<int64_t>(tensor.type), type, index);
    return nullptr;
  }
  if (kind == INTARSIA_OUTPUT && !has_run(*handle, entry)) {
    fail(handle, Code::kInvalidArgument, "output of an entry point without a successful run", 0, 0,
         index);
    return nullptr;
  }
  return tensor.data;
}

}  // namespace

const plan::Port* port_of(const intarsia_session* handle, int entry, intarsia_kind kind,
                          int index) {
  SessionState* state = state_of(handle);
  if (state == nullptr) return nullptr;
  if (!is_kind(handle, kind)) return nullptr;
  if (kind != INTARSIA_STATE && entry_at(state, entry) == nullptr) {
    fail(handle, Code::kInvalidArgument, "entry point (at most)",
         session_of(handle)->entry_count() - 1, entry);
    return nullptr;
  }
  constexpr const char* kWhat[] = {"input index (at most)", "output index (at most)",
                                   "state index (at most)"};
  return port_at(*state, ports_of(state, entry, kind), index, kWhat[kind]);
}

}  // namespace intarsia::c

using namespace intarsia;

int32_t intarsia_entry_count(const intarsia_session* session) {
  const Session* opened = c::session_of(session);
  return opened != nullptr ? opened->entry_count() : 0;
}

const char* intarsia_entry_name(const intarsia_session* session, int32_t entry) {
  const plan::Entry* found = entry_at(c::state_of(session), entry);
  return found != nullptr ? c::text_of(found->name()) : nullptr;
}

intarsia_code intarsia_find_entry(intarsia_session* session, const char* name, int32_t* entry) {
  const Session* opened = c::session_of(session);
  if (opened == nullptr || name == nullptr || entry == nullptr) {
    return c::fail(session, Code::kInvalidArgument, "name or entry is NULL");
  }
  const Result<int> found = opened->find_entry(name);
  if (found.ok()) *entry = found.value();
  return c::code_of(found.status());
}

int32_t intarsia_port_count(const intarsia_session* session, int32_t entry, intarsia_kind kind) {
  return size_of(c::ports_of(c::state_of(session), entry, kind));
}

intarsia_code intarsia_get_port(intarsia_session* session, int32_t entry, intarsia_kind kind,
                                int32_t index, intarsia_port* port) {
  const plan::Port* found = c::port_of(session, entry, kind, index);
  if (found == nullptr) return INTARSIA_INVALID_ARGUMENT;
  const SessionState& state = *c::state_of(session);
  const TensorView tensor = c::look_up(*c::session_of(session), entry, kind, index)->tensor;
  const int32_t* maximum = state.plan.extents + tensor_in(state, found->slot()).extents();
  const TensorView planned{nullptr, maximum, tensor.type, tensor.rank};
  const bool readable = kind != INTARSIA_OUTPUT || c::has_run(*session, entry);
  const intarsia_port value{sizeof(value),
                            c::text_of(found->name()),
                            tensor.rank != 0 ? tensor.extents : nullptr,
                            tensor.rank != 0 ? maximum : nullptr,
                            readable ? tensor.data : nullptr,
                            tensor.count(),
                            static_cast<size_t>(tensor.bytes()),
                            static_cast<size_t>(planned.bytes()),
                            static_cast<intarsia_type>(tensor.type),
                            tensor.rank};
  if (c::deliver(value, port)) return INTARSIA_OK;
  return c::fail(session, Code::kInvalidArgument, "port is NULL, or its struct_size 0");
}

intarsia_code intarsia_find_port(intarsia_session* session, int32_t entry, intarsia_kind kind,
                                 const char* name, int32_t* index) {
  const Session* opened = c::session_of(session);
  if (opened == nullptr || name == nullptr || index == nullptr) {
    return c::fail(session, Code::kInvalidArgument, "name or index is NULL");
  }
  if (!c::is_kind(session, kind)) return INTARSIA_INVALID_ARGUMENT;
  if (kind != INTARSIA_STATE) {
    const Result<int> found =
        kind == INTARSIA_INPUT ? opened->find_input(name, entry) : opened->find_output(name, entry);
    if (found.ok()) *index = found.value();
    return c::code_of(found.status());
  }
  const int count = opened->state_count();
  for (int i = 0; i < count; ++i) {
    if (opened->state(i)->name != name) continue;
    *index = i;
    return INTARSIA_OK;
  }
  c::fail(session, Code::kUnknownName, "state");
  Diagnostic& diagnostic = c::state_of(session)->diagnostic;
  diagnostic.text = name;
  diagnostic.text_length = static_cast<uint32_t>(std::strlen(name));
  return INTARSIA_UNKNOWN_NAME;
}

intarsia_code intarsia_get_axis(intarsia_session* session, int32_t entry, intarsia_kind kind,
                                int32_t index, int32_t axis, intarsia_axis* info) {
  const plan::Port* port = c::port_of(session, entry, kind, index);
  if (port == nullptr) return INTARSIA_INVALID_ARGUMENT;
  const SessionState& state = *c::state_of(session);
  const plan::Tensor& tensor = tensor_in(state, port->slot());
  if (axis < 0 || axis >= tensor.rank()) {
    return c::fail(session, Code::kInvalidArgument, "axis (at most)", tensor.rank() - 1, axis,
                   index);
  }
  const int32_t maximum = state.plan.extents[tensor.extents() + static_cast<uint32_t>(axis)];
  intarsia_axis value{sizeof(value), nullptr, state.extents_of(tensor)[axis], maximum, maximum, 0};
  const auto* symbols = port->symbols();
  if (symbols != nullptr && symbols->size() != 0) {
    const int32_t symbol = symbols->Get(static_cast<uint32_t>(axis));
    if (symbol != -1) {
      value.varies = 1;
      value.minimum = 0;
    }
    if (symbol >= 0) {
      const plan::Symbol& range = *state.plan.root->symbols()->Get(static_cast<uint32_t>(symbol));
      value.symbol = c::text_of(range.name());
      value.minimum = range.minimum();
    }
  }
  if (c::deliver(value, info)) return INTARSIA_OK;
  return c::fail(session, Code::kInvalidArgument, "axis is NULL, or its struct_size 0");
}

void* intarsia_input_data(intarsia_session* session, int32_t entry, int32_t index,
                          intarsia_type type) {
  return c::data_of(session, entry, INTARSIA_INPUT, index, type);
}

const void* intarsia_output_data(intarsia_session* session, int32_t entry, int32_t index,
                                 intarsia_type type) {
  return c::data_of(session, entry, INTARSIA_OUTPUT, index, type);
}

intarsia_code intarsia_resize_input(intarsia_session* session, int32_t entry, int32_t index,
                                    const int32_t* extents, int32_t rank) {
  Session* opened = c::session_of(session);
  if (opened == nullptr || rank < 0 || (extents == nullptr && rank > 0)) {
    return c::fail(session, Code::kInvalidArgument, "extents are NULL, or the rank is below 0");
  }
  return c::code_of(opened->resize_input(index, {extents, static_cast<size_t>(rank)}, entry));
}

intarsia_code intarsia_resize_state(intarsia_session* session, int32_t index,
                                    const int32_t* extents, int32_t rank) {
  Session* opened = c::session_of(session);
  if (opened == nullptr || rank < 0 || (extents == nullptr && rank > 0)) {
    return c::fail(session, Code::kInvalidArgument, "extents are NULL, or the rank is below 0");
  }
  return c::code_of(opened->resize_state(index, {extents, static_cast<size_t>(rank)}));
}

intarsia_code intarsia_bind_input(intarsia_session* session, int32_t entry, int32_t index,
                                  const void* buffer, size_t bytes) {
  Session* opened = c::session_of(session);
  if (opened == nullptr) return INTARSIA_INVALID_ARGUMENT;
  return c::code_of(opened->bind_input(index, buffer, bytes, entry));
}

intarsia_code intarsia_bind_output(intarsia_session* session, int32_t entry, int32_t index,
                                   void* buffer, size_t bytes) {
  Session* opened = c::session_of(session);
  if (opened == nullptr) return INTARSIA_INVALID_ARGUMENT;
  return c::code_of(opened->bind_output(index, buffer, bytes, entry));
}
