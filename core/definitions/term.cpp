// SPDX-License-Identifier: Apache-2.0
#include "core/definitions/term.h"

#include <numeric>

namespace intarsia::definitions {

SymbolicInput Term::known() const {
  return context_->known(*this);
}

Dim Term::extent(int64_t axis) const {
  const Shape<Dim> shape = known().shape;
  const int64_t place = axis < 0 ? axis + shape.rank : axis;
  if (place < 0 || place >= shape.rank) {
    context_->refuse("an operand has " + std::to_string(shape.rank) +
                     " axes, but the operator reads the extent of axis " + std::to_string(axis));
  }
  return shape[static_cast<int>(place)];
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

Term integers(Term like, const std::vector<int64_t>& values) {
  return like.context().integers(values);
}
Term extents(Term term, int64_t begin, int64_t end) {
  return call("Shape", {term}, {{"start", begin}, {"end", end}});
}
Term join(std::initializer_list<Term> parts, int64_t axis) {
  return call("Concat", parts, {{"axis", axis}});
}
Term with_extents(Term term, Term extents) {
  return call("Reshape", {term, extents});
}
Term unsqueeze(Term term, const std::vector<int64_t>& axes) {
  return call("Unsqueeze", {term, integers(term, axes)});
}
Term transpose(Term term, std::vector<int64_t> order) {
  return call("Transpose", {term}, {{"perm", std::move(order)}});
}
Term cast_to(Term term, DataType type) {
  if (term.known().type == type) return term;
  return call("Cast", {term}, {{"to", static_cast<int64_t>(type)}});
}
Term slice(Term term, int64_t axis, int64_t first, int64_t last, int64_t step) {
  return call("Slice", {term, integers(term, {first}), integers(term, {last}),
                        integers(term, {axis}), integers(term, {step})});
}
Term positions(Term of, int64_t axis) {
  TermContext& context = of.context();
  const Term end = call("Squeeze", {extents(of, axis, axis + 1)});
  return call("Range",
              {context.number(DataType::kInt64, 0), end, context.number(DataType::kInt64, 1)});
}

Term filled(Term like, double value, Term extents) {
  return call("Expand", {like.number(value), extents});
}
Term sum_over(Term term, const std::vector<int64_t>& axes) {
  if (axes.empty()) return term;
  return call("ReduceSum", {term, integers(term, axes)}, {{"keepdims", int64_t{1}}});
}
Term mean_over(Term term, const std::vector<int64_t>& axes) {
  if (axes.empty()) return term;
  return call("ReduceMean", {term, integers(term, axes)}, {{"keepdims", int64_t{1}}});
}
std::vector<int64_t> axes_between(int64_t begin, int64_t end) {
  std::vector<int64_t> axes(static_cast<size_t>(end > begin ? end - begin : 0));
  std::iota(axes.begin(), axes.end(), begin);
  return axes;
}
std::vector<int64_t> inverse_order(const std::vector<int64_t>& order) {
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return result;
}
std::optional<std::vector<int64_t>> known_integers(Term term) {
  const SymbolicInput known = term.known();
  if (!known.values || known.denominator != 1) return std::nullopt;
  std::vector<int64_t> result;
  for (const Dim& value : *known.values) {
    if (!is_constant(value)) return std::nullopt;
    result.push_back(constant_value(value));
  }
  return result;
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
  TermContext& g = term.context();
  const Term sum = call("ReduceSum", {term, g.integers(axes)}, {{"keepdims", int64_t{1}}});
  return leading.empty() ? sum : call("Squeeze", {sum, g.integers(leading)});
}

}  // namespace intarsia::definitions
