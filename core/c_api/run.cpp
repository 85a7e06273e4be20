// SPDX-License-Identifier: Apache-2.0
//
// Runs: over ports that the program has filled, and over tensors of the caller's, which are copied.
#include "core/c_api/handle.h"

namespace intarsia::c {
namespace {

/// Bytes of a tensor whose type, rank and extents are sound.
size_t bytes_of(const intarsia_tensor& tensor) {
  const TensorView view{nullptr, tensor.extents, static_cast<DataType>(tensor.type),
                        static_cast<uint8_t>(tensor.rank)};
  return static_cast<size_t>(view.bytes());
}

/// What is wrong with a tensor by itself; kOk for one that may be used.
Code flaw_of(const intarsia_tensor& tensor) {
  if (tensor.type <= INTARSIA_UNDEFINED || tensor.type > INTARSIA_SEQUENCE) return Code::kWrongType;
  if (tensor.rank < 0 || tensor.rank > INTARSIA_MAX_RANK) return Code::kWrongRank;
  int64_t count = 1;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.extents[axis] < 0) return Code::kWrongExtent;
    const int64_t extent = tensor.extents[axis] == 0 ? 1 : tensor.extents[axis];
    if (extent > kMaxElements / count) return Code::kWrongExtent;
    count *= extent;
  }
  return bytes_of(tensor) <= tensor.bytes ? Code::kOk : Code::kInvalidArgument;
}

/// Checks an input that is given, and sets the extents of its port.
intarsia_code take_extents(intarsia_session* handle, int entry, int index,
                           const intarsia_tensor& given) {
  Session& session = *session_of(handle);
  const DataType type = session.input_port(index, entry)->tensor.type;
  if (holds_elements(type)) {
    return fail(handle, Code::kUnsupported, "an input that is a sequence, an optional or a map", 0,
                0, index);
  }
  if (given.type != static_cast<intarsia_type>(type)) {
    return fail(handle, Code::kWrongType, "element type of the input", static_cast<int64_t>(type),
                given.type, index);
  }
  if (const Code flaw = flaw_of(given); flaw != Code::kOk) {
    return fail(handle, flaw, "rank, extents or bytes of the input's tensor", 0, 0, index);
  }
  return code_of(
      session.resize_input(index, {given.extents, static_cast<size_t>(given.rank)}, entry));
}

intarsia_code copy_in(intarsia_session* handle, int entry, int index,
                      const intarsia_tensor& given) {
  Session& session = *session_of(handle);
  const Status status = session.bind_input(index, nullptr, 0, entry);  // the arena's again
  if (!status) return code_of(status);
  const TensorView target = session.input_port(index, entry)->tensor;
  std::memmove(target.data, given.data, static_cast<size_t>(target.bytes()));
  return INTARSIA_OK;
}

intarsia_code give_out(intarsia_session* handle, int entry, int index, intarsia_tensor& target) {
  const TensorView found = session_of(handle)->output_port(index, entry)->tensor;
  const auto bytes = static_cast<size_t>(found.bytes());
  target.type = static_cast<intarsia_type>(found.type);
  target.rank = found.rank;
  for (int axis = 0; axis < INTARSIA_MAX_RANK; ++axis) {
    target.extents[axis] = axis < found.rank ? found.extents[axis] : 0;
  }
  if (target.data == nullptr) {
    target.data = found.data;
    target.bytes = bytes;
    return INTARSIA_OK;
  }
  if (target.bytes < bytes) {
    return fail(handle, Code::kInvalidArgument, "bytes of the output's tensor",
                static_cast<int64_t>(bytes), static_cast<int64_t>(target.bytes), index);
  }
  if (bytes != 0) std::memmove(target.data, found.data, bytes);
  return INTARSIA_OK;
}

intarsia_code check_counts(intarsia_session* handle, int entry, const void* inputs, int input_count,
                           const void* outputs, int output_count) {
  const Session* session = session_of(handle);
  if (session == nullptr) return INTARSIA_INVALID_ARGUMENT;
  const struct {
    const char* what;
    const char* null;
    const void* tensors;
    int expected, found;
  } kinds[] = {
      {"number of inputs", "inputs are NULL", inputs, session->input_count(entry), input_count},
      {"number of outputs", "outputs are NULL", outputs, session->output_count(entry),
       output_count}};
  if (entry < 0 || entry >= session->entry_count()) {
    return fail(handle, Code::kInvalidArgument, "entry point (at most)", session->entry_count() - 1,
                entry);
  }
  for (const auto& kind : kinds) {
    if (kind.expected != kind.found) {
      return fail(handle, Code::kInvalidArgument, kind.what, kind.expected, kind.found);
    }
    if (kind.tensors == nullptr && kind.expected > 0) {
      return fail(handle, Code::kInvalidArgument, kind.null);
    }
  }
  for (int i = 0; i < output_count; ++i) {
    if (!holds_elements(session->output_port(i, entry)->tensor.type)) continue;
    return fail(handle, Code::kUnsupported, "an output that is a sequence, an optional or a map", 0,
                0, i);
  }
  return INTARSIA_OK;
}

}  // namespace
}  // namespace intarsia::c

using namespace intarsia;

intarsia_code intarsia_run(intarsia_session* session, int32_t entry) {
  Session* opened = c::session_of(session);
  if (opened == nullptr) return INTARSIA_INVALID_ARGUMENT;
  const Status status = opened->run(entry);
  c::note_run(*session, entry, status);
  return c::code_of(status);
}

intarsia_code intarsia_make_tensor(intarsia_tensor* tensor, void* data, size_t bytes,
                                   intarsia_type type, const int32_t* extents, int32_t rank) {
  if (tensor == nullptr) return INTARSIA_INVALID_ARGUMENT;
  *tensor = {};
  if (rank < 0 || rank > INTARSIA_MAX_RANK) return INTARSIA_WRONG_RANK;
  if (extents == nullptr && rank > 0) return INTARSIA_INVALID_ARGUMENT;
  intarsia_tensor made{data, bytes, type, rank, {}};
  for (int32_t axis = 0; axis < rank; ++axis) made.extents[axis] = extents[axis];
  if (const Code flaw = c::flaw_of(made); flaw != Code::kOk) return static_cast<int32_t>(flaw);
  if (data == nullptr) return INTARSIA_INVALID_ARGUMENT;
  *tensor = made;
  return INTARSIA_OK;
}

intarsia_code intarsia_run_tensors(intarsia_session* session, int32_t entry,
                                   const intarsia_tensor* inputs, int32_t input_count,
                                   intarsia_tensor* outputs, int32_t output_count) {
  intarsia_code code = c::check_counts(session, entry, inputs, input_count, outputs, output_count);
  for (int i = 0; code == INTARSIA_OK && i < input_count; ++i) {
    if (inputs[i].data != nullptr) code = c::take_extents(session, entry, i, inputs[i]);
  }
  for (int i = 0; code == INTARSIA_OK && i < input_count; ++i) {
    if (inputs[i].data != nullptr) code = c::copy_in(session, entry, i, inputs[i]);
  }
  if (code == INTARSIA_OK) code = intarsia_run(session, entry);
  for (int i = 0; code == INTARSIA_OK && i < output_count; ++i) {
    code = c::give_out(session, entry, i, outputs[i]);
  }
  return code;
}

intarsia_code intarsia_reset_states(intarsia_session* session) {
  Session* opened = c::session_of(session);
  if (opened == nullptr) return INTARSIA_INVALID_ARGUMENT;
  return c::code_of(opened->reset_states());
}
