// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/strings/case.h"

#include <cstddef>

namespace intarsia::cpu {

CodePoint first_code_point(std::string_view text) {
  const auto byte = [text](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(text[i]));
  };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const int bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const CodePoint invalid{lead, 1, false};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < static_cast<size_t>(bytes)) return invalid;
  uint32_t value = lead & (0x7fu >> bytes);
  for (int i = 1; i < bytes; ++i) {
    if ((byte(static_cast<size_t>(i)) & 0xc0) != 0x80) return invalid;
    value = value << 6 | (byte(static_cast<size_t>(i)) & 0x3f);
  }
  // Longer than need be, a half of a pair of UTF-16, or beyond Unicode.
  constexpr uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool half = value >= 0xd800 && value < 0xe000;
  return value < kLowest[bytes] || half || value > 0x10ffff ? invalid : CodePoint{value, bytes};
}

uint32_t change_case(uint32_t value, std::span<const CaseRange> ranges) {
  size_t low = 0, high = value < 0x80 ? 1 : ranges.size();  // letters of ASCII are the first range
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (ranges[middle].last < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == ranges.size() || value < ranges[low].first) return value;
  const CaseRange& range = ranges[low];
  const bool inside = (value - range.first) % static_cast<uint32_t>(range.stride) == 0;
  return inside ? value + static_cast<uint32_t>(range.distance) : value;
}

int write_code_point(uint32_t value, char* at) {
  const int bytes = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
  if (at == nullptr) return bytes;
  constexpr uint32_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (int i = bytes - 1; i > 0; --i, value >>= 6) {
    at[i] = static_cast<char>(0x80 | (value & 0x3f));
  }
  at[0] = static_cast<char>(kLead[bytes] | value);
  return bytes;
}

size_t write_changed(std::string_view text, std::span<const CaseRange> ranges, char* at) {
  size_t written = 0;
  while (!text.empty()) {
    const auto lead = static_cast<uint8_t>(text[0]);
    if (lead < 0x80) {  // remains one byte
      if (at != nullptr) at[written] = static_cast<char>(change_case(lead, ranges));
      ++written;
      text.remove_prefix(1);
      continue;
    }
    const CodePoint letter = first_code_point(text);
    char* to = at != nullptr ? at + written : nullptr;
    if (letter.valid) {
      written += static_cast<size_t>(write_code_point(change_case(letter.value, ranges), to));
    } else {
      if (to != nullptr) *to = text[0];
      ++written;
    }
    text.remove_prefix(static_cast<size_t>(letter.bytes));
  }
  return written;
}

bool equal_but_case(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const CodePoint x = first_code_point(a), y = first_code_point(b);
    if (x.valid != y.valid) return false;
    const bool same = x.valid ? change_case(x.value, kToLower) == change_case(y.value, kToLower)
                              : x.value == y.value;
    if (!same) return false;
    a.remove_prefix(static_cast<size_t>(x.bytes));
    b.remove_prefix(static_cast<size_t>(y.bytes));
  }
  return a.empty() && b.empty();
}

}  // namespace intarsia::cpu
