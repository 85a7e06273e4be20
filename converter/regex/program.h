// SPDX-License-Identifier: Apache-2.0
//
// A regular expression as a nondeterministic automaton over bytes, first as instructions, then as
// positions (automaton.h).
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "converter/regex/syntax.h"

namespace intarsia::converter::regex {

using ByteSet = std::bitset<256>;

/// What assertions want to know of a byte, and of the ends of a string.
enum class ByteKind : uint8_t { kOther, kWord, kNewline, kEnd };
ByteKind kind_of(int byte);

/// One instruction; instruction 0 is the end.
struct Instruction {
  /// kSet: reads a byte of `bytes`. kChoice: goes on at any of `next`. Others: assertions.
  Expression::Kind kind = Expression::kEmpty;
  ByteSet bytes = {};
  std::vector<int> next = {};
};

struct Program {
  std::vector<Instruction> instructions;
  int start = 0;
};

/// Throws PatternError where there would be too many instructions.
Program program_of(const Expression& expression);

/// Where a byte is read.
struct Position {
  ByteSet bytes;
  /// Positions that may read the next byte, ascending.
  std::vector<int> follow = {};
  /// The string may end here.
  bool last = false;
};

/// Position 0 reads nothing: what follows it begins the string.
using Positions = std::vector<Position>;

/// Throws PatternError where there would be too many positions.
Positions positions_of(const Program& program);

}  // namespace intarsia::converter::regex
