// SPDX-License-Identifier: Apache-2.0
//
// Shape rules of matching strings with an automaton, which the converter makes of RegexFullMatch:
// it compiles the pattern (converter/regex/), so that the run takes a step for each byte.
//
// RegexFullMatch is deterministic: `classes` gives each byte its class, `transitions` for each
// state and class the next state, `accepting` the states in which a string may end. State 0 never
// accepts again; state 1 is the first, if there is one.
//
// RegexStates is for patterns of which that table would be too large: it keeps a set of states, the
// first of which is state 0. `begins` says for each state and class where in `next` the list of
// states behind it begins; it ends where that of the next element begins. A string may end where
// one of the set is `accepting`.
#pragma once

#include "intarsia/shape.h"

namespace intarsia::ops {

/// The tables of an automaton: classes, one of two axes, and others, the last of which has an
/// element for each state.
template <class S>
Status require_tables(S& s, int last) {
  using Dim = typename S::Dim;
  for (int input = 1; input <= last; ++input) {
    const int rank = input == 2 ? 2 : 1;
    if (s.rank(input) == rank) continue;
    return s.fail(Code::kWrongRank, "rank of a table", rank, s.rank(input), input);
  }
  if (Status t = s.require_equal(Dim(int64_t{256}), s.dim(1, 0), "classes", 1, 0); !t) return t;
  const Dim states = s.dim(2, 0);
  if (Status t = s.require_equal(states, s.dim(last, 0), "states", last, 0); !t) return t;
  return s.require_at_least(Dim(int64_t{1}), states, "states", 2, 0);
}

template <class S>
Status infer_match(S& s, int last) {
  if (Status t = require_tables(s, last); !t) return t;
  return s.set_output(0, DataType::kBool, s.shape(0));
}

struct RegexFullMatch {
  static constexpr std::string_view name = "RegexFullMatch";
  template <class S>
  static Status infer(S& s) {
    return infer_match(s, 3);
  }
};

struct RegexStates {
  static constexpr std::string_view name = "RegexStates";
  template <class S>
  static Status infer(S& s) {
    return infer_match(s, 4);
  }
};

}  // namespace intarsia::ops
