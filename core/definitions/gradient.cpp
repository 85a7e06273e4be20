// SPDX-License-Identifier: Apache-2.0
//
// What gradient rules of all families are written with.
#include "core/definitions/gradient.h"

namespace intarsia::definitions {

SymbolicInput Term::known() const {
  return context_->known(*this);
}

Term Term::number(double value) const {
  return context_->number(known().type, value);
}

Term call(std::string_view op, std::initializer_list<Term> inputs, AttributeMap attributes) {
  return inputs.begin()->context().add(op, inputs, std::move(attributes), 1).front();
}

Term shape_of(Term term) {
  return call("Shape", {term});
}

Term reshape(Term term, Term like) {
  // An extent of 0 is one.
  return call("Reshape", {term, shape_of(like)}, {{"allowzero", int64_t{1}}});
}

Term expand(Term term, Term like) {
  return call("Expand", {term, shape_of(like)});
}

Term cast(Term term, Term like) {
  return call("Cast", {term}, {{"to", static_cast<int64_t>(like.known().type)}});
}

Term sum_to(Term term, Term like) {
  const Shape<Dim> from = term.known().shape, to = like.known().shape;
  const int more = from.rank - to.rank;
  std::vector<int64_t> axes, leading;
  for (int axis = 0; axis < from.rank; ++axis) {
    if (axis < more) {
      leading.push_back(axis);
    } else if (from[axis] == to[axis - more]) {
      continue;
    } else if (!(to[axis - more] == Dim(1))) {
      term.context().refuse("whether an operand is broadcast along an axis of extent " +
                            to[axis - more].to_string() + " to extent " + from[axis].to_string() +
                            " has to be known; give the dimension with --dim or --shape");
    }
    axes.push_back(axis);
  }
  if (axes.empty()) return term;
  GradientContext& g = term.context();
  const Term sum = call("ReduceSum", {term, g.integers(axes)}, {{"keepdims", int64_t{1}}});
  return leading.empty() ? sum : call("Squeeze", {sum, g.integers(leading)});
}

}  // namespace intarsia::definitions
