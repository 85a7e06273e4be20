// SPDX-License-Identifier: Apache-2.0
//
// Elements of tensors of strings.
#include "core/c_api/handle.h"

using namespace intarsia;

static_assert(sizeof(intarsia_string) == sizeof(StringRef) &&
              offsetof(intarsia_string, length) == offsetof(StringRef, length));

intarsia_code intarsia_add_string(intarsia_session* session, int32_t entry, const char* text,
                                  size_t length, intarsia_string* element) {
  Session* opened = c::session_of(session);
  if (opened == nullptr || element == nullptr || (text == nullptr && length > 0)) {
    return c::fail(session, Code::kInvalidArgument, "text or element is NULL");
  }
  const Result<StringRef> added = opened->add_string({text, length}, entry);
  if (added.ok()) *element = {added.value().offset, added.value().length};
  return c::code_of(added.status());
}

const char* intarsia_string_text(const intarsia_session* session, intarsia_string element) {
  const Session* opened = c::session_of(session);
  if (opened == nullptr) return nullptr;
  const std::string_view text = opened->string({element.offset, element.length});
  return text.empty() ? nullptr : text.data();
}
