// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "intarsia/describe.h"

namespace intarsia::converter {

/// The sentence that describe() writes. Without a plan it names no node.
inline std::string describe_text(const Diagnostic& diagnostic,
                                 std::span<const std::byte> plan = {}) {
  std::string text(describe(diagnostic, plan, nullptr, 0), '\0');
  describe(diagnostic, plan, text.data(), text.size() + 1);
  return text;
}

}  // namespace intarsia::converter
