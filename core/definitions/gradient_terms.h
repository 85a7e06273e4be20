// SPDX-License-Identifier: Apache-2.0
//
// Forms that several gradient rules write, chosen so that their own gradients stay finite. Host
// only.
#pragma once

#include <utility>

#include "core/definitions/term.h"

namespace intarsia::definitions::gradients {

/// Matrices of the last two axes, transposed.
inline Term transposed(Term term) {
  std::vector<int64_t> order = axes_between(0, term.rank());
  std::swap(order.end()[-1], order.end()[-2]);
  return transpose(term, order);
}

/// All elements in a row.
inline Term row_of(Term term) {
  return with_extents(term, integers(term, {-1}));
}

/// Zeros of the extents of `like`, to which each element of `dy` is added at its place: an index
/// into the elements of `like` in a row.
inline Term added_at(Term places, Term dy, Term like) {
  const Term size = with_extents(call("Size", {like}), integers(like, {-1}));
  const Term sums = call("ScatterElements", {filled(dy, 0, size), row_of(places), row_of(dy)},
                         {{"reduction", std::string("add")}});
  return reshape(sums, like);
}

/// What is computed with in float where elements have 16 bits, as kernels do.
inline Term wide(Term term) {
  const DataType type = term.known().type;
  return type == DataType::kDouble ? term : cast_to(term, DataType::kFloat);
}

/// |x|^p.
inline Term absolute_power(Term x, int64_t p) {
  if (p == 2) return x * x;
  const Term magnitude = call("Abs", {x});
  return p == 1 ? magnitude : call("Pow", {magnitude, x.number(static_cast<double>(p))});
}

/// x^(1 / p) of what is not negative. Its slope is 0 where x is.
inline Term root(Term x, int64_t p) {
  if (p == 1) return x;
  const Term none = call("Equal", {x, x.number(0)});
  const Term safe = where(none, 1, x);
  const Term whole =
      p == 2 ? call("Sqrt", {safe}) : call("Pow", {safe, x.number(1 / static_cast<double>(p))});
  return where(none, 0, whole);
}

}  // namespace intarsia::definitions::gradients
