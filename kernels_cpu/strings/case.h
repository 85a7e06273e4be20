// SPDX-License-Identifier: Apache-2.0
//
// The letters of UTF-8 text in the other case, by Unicode's simple mappings: one code point for
// one, independent of any locale. Bytes that are no UTF-8 stay as they are.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels_cpu/strings/case_ranges.h"

namespace intarsia::cpu {

/// The code point of a text's first letter, and its bytes.
struct CodePoint {
  uint32_t value = 0;
  int bytes = 0;
  bool valid = true;
};

/// REQUIRES: `text` is not empty.
CodePoint first_code_point(std::string_view text);

/// The letter of the other case, or `value` itself.
uint32_t change_case(uint32_t value, std::span<const CaseRange> ranges);

/// Writes a code point's UTF-8 to `at`, unless that is null. Returns its bytes, at most 4.
int write_code_point(uint32_t value, char* at);

/// Writes `text` with its letters in the other case to `at`, unless that is null. Returns its
/// bytes.
size_t write_changed(std::string_view text, std::span<const CaseRange> ranges, char* at);

/// True if the texts are equal but for the case of their letters.
bool equal_but_case(std::string_view a, std::string_view b);

}  // namespace intarsia::cpu
