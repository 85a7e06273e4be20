// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics as data and as text. The text is the library's own (intarsia/describe.h).
#include "intarsia/describe.h"

#include "core/c_api/handle.h"

using namespace intarsia;

// The first and the last are the same, and none is left out between them.
static_assert(static_cast<Code>(INTARSIA_TOO_MANY_CHARACTERS) == Code::kTooManyCharacters &&
              static_cast<DataType>(INTARSIA_SEQUENCE) == DataType::kSequence);

namespace intarsia::c {

intarsia_diagnostic to_c(const Diagnostic& from) {
  return {sizeof(intarsia_diagnostic),
          code_of(from.code),
          from.node,
          from.operand,
          from.axis,
          from.expected,
          from.found,
          from.what,
          from.text,
          from.text_length};
}

Diagnostic from_c(const intarsia_diagnostic& from) {
  return {static_cast<Code>(from.code),
          from.what != nullptr ? from.what : "",
          from.node,
          from.operand,
          from.axis,
          from.expected,
          from.found,
          from.text,
          from.text_length};
}

namespace {

const Diagnostic& diagnostic_of(const intarsia_session* session) {
  const Session* opened = session_of(session);
  return opened != nullptr ? opened->diagnostic() : Session().diagnostic();  // static storage
}

}  // namespace
}  // namespace intarsia::c

intarsia_code intarsia_last_error(const intarsia_session* session, intarsia_diagnostic* why) {
  const Diagnostic& found = c::diagnostic_of(session);
  c::deliver(c::to_c(found), why);
  return c::code_of(found.code);
}

const char* intarsia_message(intarsia_session* session) {
  const Session* opened = c::session_of(session);
  if (opened == nullptr) return "session is not open";
  describe(opened->diagnostic(), opened->plan(), session->message, sizeof(session->message));
  return session->message;
}

size_t intarsia_describe(const intarsia_diagnostic* why, const void* plan, size_t plan_bytes,
                         char* buffer, size_t capacity) {
  const Diagnostic diagnostic = c::from_c(c::accept(why));
  return describe(diagnostic,
                  {static_cast<const std::byte*>(plan), plan != nullptr ? plan_bytes : 0}, buffer,
                  buffer != nullptr ? capacity : 0);
}

const char* intarsia_code_name(intarsia_code code) {
  return code_name(static_cast<Code>(code >= 0 && code < 256 ? code : 255));
}

const char* intarsia_type_name(intarsia_type type) {
  return data_type_name(static_cast<DataType>(type >= 0 && type < 256 ? type : 255));
}
