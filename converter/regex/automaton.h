// SPDX-License-Identifier: Apache-2.0
//
// From a regular expression to an automaton over the bytes of UTF-8.
//
//     parse (syntax.h)      a tree over code points
//     program_of            instructions: one byte of a set, a choice, an assertion, the end
//     positions_of          the instructions that read a byte, and which may follow which; there
//                           assertions are decided, for a position knows the kind of its byte
//     compile               states between bytes, several of which may come behind one
//     determine             sets of them as states, the smallest table of those
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "converter/regex/syntax.h"

namespace intarsia::converter::regex {

/// What both kinds of automata begin with (core/operators/strings/regex.h).
struct Classes {
  std::vector<uint8_t> of_byte;  ///< 256
  int64_t count = 0;
};

/// An automaton in the form of RegexStates.
struct StateLists {
  Classes classes;
  std::vector<int32_t> begins;  ///< [states][classes]
  std::vector<int32_t> next;
  std::vector<uint8_t> accepting;  ///< one for each state
};

/// One in the form of RegexFullMatch.
struct Table {
  Classes classes;
  std::vector<uint16_t> transitions;  ///< [states][classes]
  std::vector<uint8_t> accepting;
};

/// The automaton that accepts the strings of which all matches. Throws PatternError.
StateLists compile(std::string_view pattern);

/// A deterministic one that accepts the same; nothing if it had too many states.
std::optional<Table> determine(const StateLists& lists);

}  // namespace intarsia::converter::regex
