// SPDX-License-Identifier: Apache-2.0
//
// Sets of Unicode's code points, as patterns name them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace intarsia::converter::regex {

inline constexpr uint32_t kLastCodePoint = 0x10ffff;

/// Code points from `first` to `last`.
struct CodeRange {
  uint32_t first = 0;
  uint32_t last = 0;
  friend auto operator<=>(const CodeRange&, const CodeRange&) = default;
};

/// Ranges that ascend and do not touch one another.
using CodeSet = std::vector<CodeRange>;

/// The same set in that form, from ranges in any order.
CodeSet sorted(CodeSet ranges);
bool contains(const CodeSet& set, uint32_t value);
/// All other code points.
CodeSet complement(const CodeSet& set);
/// The set with the letters of the other case, as Unicode's simple folding pairs them.
CodeSet folded(const CodeSet& set);

/// The set of a class's name within [[:...:]], or null.
const CodeSet* posix_class(std::string_view name);
/// The set of \d, \s or \w; null for other letters.
const CodeSet* perl_class(char letter);
/// The code points of a general category of Unicode ("Lu", "L"), or of all ("Any"). False if there
/// is no such name.
bool find_category(std::string_view name, CodeSet& set);

}  // namespace intarsia::converter::regex
