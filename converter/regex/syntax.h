// SPDX-License-Identifier: Apache-2.0
//
// Regular expressions as RE2 writes them, as a tree. Groups leave no trace in it, for nobody asks
// what they match; nor does the choice between longest and shortest.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "converter/regex/code_points.h"

namespace intarsia::converter::regex {

/// What is wrong with a pattern, or more than is supported.
struct PatternError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Expression {
  enum Kind : uint8_t {
    kEmpty,      ///< the empty string
    kSet,        ///< one code point of `set`
    kByte,       ///< one byte, whatever it is
    kSequence,   ///< the children one behind the other
    kChoice,     ///< one of the children
    kRepeat,     ///< the child `least` to `most` times
    kTextBegin,  ///< these and what follows: the empty string at such a place
    kTextEnd,
    kLineBegin,
    kLineEnd,
    kWordBoundary,
    kNoWordBoundary,
  };
  static constexpr int kAnyNumber = -1;

  Kind kind = kEmpty;
  CodeSet set = {};
  std::vector<std::unique_ptr<Expression>> children = {};
  int least = 0;
  int most = 0;
};
using ExpressionPointer = std::unique_ptr<Expression>;

/// Throws PatternError.
ExpressionPointer parse(std::string_view pattern);

}  // namespace intarsia::converter::regex
