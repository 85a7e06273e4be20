// SPDX-License-Identifier: Apache-2.0
#include "converter/regex/code_points.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "converter/regex/categories.h"
#include "kernels_cpu/strings/case_ranges.h"

namespace intarsia::converter::regex {
namespace {

/// The letters that are one another's other case.
using Orbits = std::map<uint32_t, std::vector<uint32_t>>;

Orbits make_orbits() {
  // Turkish letters: their other case is that of another letter, and folding leaves them alone.
  constexpr uint32_t kAlone[] = {0x130, 0x131};
  std::map<uint32_t, std::vector<uint32_t>> neighbours;
  const auto pair_up = [&](std::span<const cpu::CaseRange> ranges) {
    for (const cpu::CaseRange& range : ranges) {
      for (uint32_t a = range.first; a <= range.last; a += static_cast<uint32_t>(range.stride)) {
        const uint32_t b = a + static_cast<uint32_t>(range.distance);
        if (std::find(std::begin(kAlone), std::end(kAlone), a) != std::end(kAlone)) continue;
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
      }
    }
  };
  pair_up(cpu::kToLower);
  pair_up(cpu::kToUpper);
  Orbits orbits;
  for (const auto& [letter, others] : neighbours) {
    std::vector<uint32_t> orbit = {letter};
    for (size_t i = 0; i < orbit.size(); ++i) {
      for (const uint32_t other : neighbours[orbit[i]]) {
        if (std::find(orbit.begin(), orbit.end(), other) == orbit.end()) orbit.push_back(other);
      }
    }
    orbits[letter] = std::move(orbit);
  }
  return orbits;
}

/// The ranges of each category of two letters.
std::map<std::string, CodeSet, std::less<>> make_categories() {
  std::map<std::string, CodeSet, std::less<>> categories;
  uint32_t code = 0;
  for (std::string_view rest = kCategories; !rest.empty();) {
    std::vector<std::string_view> names;
    for (; !rest.empty() && rest[0] >= 'A' && rest[0] <= 'Z'; rest.remove_prefix(2)) {
      names.push_back(rest.substr(0, 2));
    }
    uint32_t length = 0;
    for (; !rest.empty() && (rest[0] < 'A' || rest[0] > 'Z'); rest.remove_prefix(1)) {
      const char c = rest[0];
      length = length * 36 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    const uint32_t end = code + length;
    if (names.size() == 1) {
      categories[std::string(names[0])].push_back({code, end - 1});
    } else {
      for (size_t turn = 0; code < end; ++code, turn = 1 - turn) {
        categories[std::string(names[turn])].push_back({code, code});
      }
    }
    code = end;
  }
  return categories;
}

}  // namespace

CodeSet sorted(CodeSet ranges) {
  std::sort(ranges.begin(), ranges.end());
  CodeSet set;
  for (const CodeRange& range : ranges) {
    if (!set.empty() && range.first <= set.back().last + 1) {
      set.back().last = std::max(set.back().last, range.last);
    } else {
      set.push_back(range);
    }
  }
  return set;
}

bool contains(const CodeSet& set, uint32_t value) {
  const auto above = std::upper_bound(
      set.begin(), set.end(), value,
      [](uint32_t wanted, const CodeRange& range) { return wanted < range.first; });
  return above != set.begin() && value <= std::prev(above)->last;
}

CodeSet complement(const CodeSet& set) {
  CodeSet others;
  uint32_t next = 0;
  for (const CodeRange& range : set) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) others.push_back({next, kLastCodePoint});
  return others;
}

CodeSet folded(const CodeSet& set) {
  static const Orbits kOrbits = make_orbits();
  CodeSet all = set;
  for (const auto& [letter, orbit] : kOrbits) {
    if (!contains(set, letter)) continue;
    for (const uint32_t other : orbit) all.push_back({other, other});
  }
  return sorted(std::move(all));
}

const CodeSet* posix_class(std::string_view name) {
  static const std::map<std::string_view, CodeSet> kClasses = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7f}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  };
  const auto found = kClasses.find(name);
  return found == kClasses.end() ? nullptr : &found->second;
}

const CodeSet* perl_class(char letter) {
  static const CodeSet kSpace = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  if (letter == 'd') return posix_class("digit");
  if (letter == 'w') return posix_class("word");
  return letter == 's' ? &kSpace : nullptr;
}

bool find_category(std::string_view name, CodeSet& set) {
  static const auto kByName = make_categories();
  set.clear();
  if (name == "Any") {
    set = {{0, kLastCodePoint}};
    return true;
  }
  if (name.empty() || name == "Cn") return false;
  for (const auto& [category, ranges] : kByName) {
    if (category == "Cn" || !category.starts_with(name)) continue;
    set.insert(set.end(), ranges.begin(), ranges.end());
  }
  set = sorted(std::move(set));
  return !set.empty();
}

}  // namespace intarsia::converter::regex
