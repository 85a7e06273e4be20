// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of cutting strings into tokens, which the converter makes of Tokenizer
// (com.microsoft): what a pattern matches, or what lies between. The pattern is an automaton, as
// RegexFullMatch has it (regex.h).
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/unknown_extent.h"
#include "core/operators/strings/regex.h"

namespace intarsia {

struct TokensAttributes {
  /// The fewest characters of a token; others are dropped.
  int32_t least = 1;
  /// The pattern matches what lies between tokens.
  int32_t separates = 0;
  /// A mark stands before the first token and behind the last.
  int32_t mark = 0;
  template <class V>
  void fields(V& v) {
    v("least", least, at_least(1));
    v("separates", separates, kFlag);
    v("mark", mark, kFlag);
  }
};
static_assert(is_plan_struct<TokensAttributes>);

namespace ops {

/// The tokens of each string along a new last axis, filled up with the first of the words that
/// input 4 lists; the other two are the marks.
struct Tokens {
  using Attributes = TokensAttributes;
  static constexpr std::string_view name = "Tokens";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    if (Status t = require_tables(s, 3); !t) return t;
    if (s.rank(4) != 1) return s.fail(Code::kWrongRank, "rank of the words", 1, s.rank(4), 4);
    const Dim words(int64_t{3});
    if (Status t = s.require_equal(words, s.dim(4, 0), "words", 4, 0); !t) return t;
    Shape<Dim> y = s.shape(0);
    if (y.rank == kMaxRank) {
      return s.fail(Code::kWrongRank, "rank of X", kMaxRank - 1, y.rank, 0);
    }
    y.push(any_extent<Dim>());
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace ops
}  // namespace intarsia
