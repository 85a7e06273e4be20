// SPDX-License-Identifier: Apache-2.0
//
// Recording what is wrong. Out of line, because most of a program's code that can fail only calls
// it.
#include "core/runtime/session_state.h"

namespace intarsia {

Status KernelContext::fail(Code code, const char* what, int64_t expected, int64_t found,
                           int operand, int axis) const {
  if (host_->diagnostic != nullptr) {
    *host_->diagnostic = {code, what, node_, operand, axis, expected, found, nullptr, 0};
  }
  return code;
}

Status KernelContext::fail(Code code, const char* what, std::string_view text) const {
  const Status status = fail(code, what);
  if (host_->diagnostic != nullptr) {
    host_->diagnostic->text = text.data();
    host_->diagnostic->text_length = static_cast<uint32_t>(text.size());
  }
  return status;
}

Status SessionState::fail(Code code, const char* what, int64_t expected, int64_t found, int operand,
                          int axis) {
  diagnostic = {code, what, -1, operand, axis, expected, found, nullptr, 0};
  return code;
}

Status report(Diagnostic& diagnostic, Code code, const char* what, uint64_t expected,
              uint64_t found) {
  diagnostic = {
      code,    what, -1, -1, -1, static_cast<int64_t>(expected), static_cast<int64_t>(found),
      nullptr, 0};
  return code;
}

}  // namespace intarsia
