// SPDX-License-Identifier: Apache-2.0
//
// The deterministic automaton of a pattern, as operators hold it in tables
// (core/operators/strings/regex.h). No table is trusted: what leads nowhere matches nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "intarsia/kernel.h"

namespace intarsia::cpu {

class RegexTable {
 public:
  /// Of inputs 1 to 3.
  explicit RegexTable(const KernelContext& context)
      : class_of_(context.input(1).as<const uint8_t>()),
        transitions_(context.input(2).as<const uint16_t>()),
        accepting_(context.input(3).as<const uint8_t>()),
        states_(static_cast<uint32_t>(context.input(2).extents[0])),
        classes_(static_cast<uint32_t>(context.input(2).extents[1])) {}

  bool accepts(std::string_view text) const {
    uint32_t state = first();
    for (const char c : text) {
      if (!step(c, state)) return false;
    }
    return accepting_[state] != 0;
  }

  /// Bytes of the longest match at the start of `text`; -1 if there is none.
  int64_t longest(std::string_view text) const {
    uint32_t state = first();
    int64_t found = accepting_[state] != 0 ? 0 : -1;
    for (size_t i = 0; i < text.size() && step(text[i], state); ++i) {
      if (accepting_[state] != 0) found = static_cast<int64_t>(i) + 1;
    }
    return found;
  }

 private:
  uint32_t first() const { return states_ > 1 ? 1 : 0; }
  /// False where nothing is accepted any more.
  bool step(char c, uint32_t& state) const {
    const uint32_t column = class_of_[static_cast<uint8_t>(c)];
    if (column >= classes_) return false;
    state = transitions_[size_t{state} * classes_ + column];
    return state - 1 < states_ - 1;  // 0, or none
  }

  const uint8_t* class_of_;
  const uint16_t* transitions_;
  const uint8_t* accepting_;
  uint32_t states_;
  uint32_t classes_;
};

}  // namespace intarsia::cpu
