// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions, of operators that normalise along an axis, and of global pooling.
#include "core/definitions/gradient.h"
#include "core/operators/nn/softmax.h"
#include "core/operators/reduction/reduction.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;

/// A term of the result's extents with the reduced axes, so that it broadcasts with the input.
/// Where all axes are reduced, a scalar does.
Term kept(G& g, Term term) {
  if (g.attributes<ReduceAttributes>().keepdims != 0 || !g.has_x(1)) return term;
  return call("Unsqueeze", {term, g.x(1)});
}

/// The sum of a term of the input's extents over the reduced axes, which stay.
Term sum_over(G& g, Term term) {
  std::vector<Term> operands = {term};
  if (g.has_x(1)) operands.push_back(g.x(1));
  const int64_t noop = g.attributes<ReduceAttributes>().noop_with_empty_axes;
  const AttributeMap attributes = {{"keepdims", int64_t{1}}, {"noop_with_empty_axes", noop}};
  return g.add("ReduceSum", operands, attributes, 1).front();
}

Term sum_along(G& g, Term term, const std::vector<int64_t>& axes) {
  return call("ReduceSum", {term, g.integers(axes)},
              {{"keepdims", int64_t{1}}, {"noop_with_empty_axes", int64_t{1}}});
}

/// Elements of the input for each of the result, in the result's type.
Term elements_each(G& g) {
  const Term results = call("Size", {g.y()});
  return cast(call("Size", {g.x()}) / call("Max", {results, results.number(1)}), g.y());
}

/// The axes of a node with the attribute `axis`; none of a scalar.
std::vector<int64_t> axis_of(G& g) {
  if (g.x().rank() == 0) return {};
  return {g.attributes<SoftmaxAttributes>().axis};
}

/// `dy` shared among the elements that equal the extreme `y`.
Term shared_among(Term equal, Term dy, Term count) {
  return where(equal, dy / count, 0);
}

}  // namespace

void reduce_sum(G& g) {
  g.set(0, [&] { return definitions::expand(kept(g, g.dy()), g.x()); });
}
void reduce_mean(G& g) {
  g.set(0, [&] { return definitions::expand(kept(g, g.dy() / elements_each(g)), g.x()); });
}
void reduce_sum_square(G& g) {
  g.set(0, [&] { return 2 * g.x() * kept(g, g.dy()); });
}
void reduce_l1(G& g) {
  g.set(0, [&] { return call("Sign", {g.x()}) * kept(g, g.dy()); });
}
/// 0 where all elements are 0, as Abs has it.
void reduce_l2(G& g) {
  g.set(0, [&] {
    const Term safe = where(call("Equal", {g.y(), g.y().number(0)}), 1, g.y());
    return g.x() * kept(g, g.dy() / safe);
  });
}
void reduce_log_sum(G& g) {
  g.set(0, [&] { return definitions::expand(kept(g, g.dy() / call("Exp", {g.y()})), g.x()); });
}
void reduce_log_sum_exp(G& g) {
  g.set(0, [&] { return call("Exp", {g.x() - kept(g, g.y())}) * kept(g, g.dy()); });
}
void reduce_extreme(G& g) {
  g.set(0, [&] {
    const Term equal = call("Equal", {g.x(), kept(g, g.y())});
    return shared_among(equal, kept(g, g.dy()), sum_over(g, cast(equal, g.x())));
  });
}

void softmax(G& g) {
  g.set(0, [&] {
    const Term dot = sum_along(g, g.dy() * g.y(), axis_of(g));
    return (g.dy() - dot) * g.y();
  });
}
void log_softmax(G& g) {
  g.set(0, [&] { return g.dy() - call("Exp", {g.y()}) * sum_along(g, g.dy(), axis_of(g)); });
}

/// Back by the same angles. Those of angles are not written: tables of angles are not learned.
void rotate(G& g) {
  g.set(0, [&] { return g.repeat({g.dy(), g.x(1), call("Neg", {g.x(2)})}); });
}

void spatial_mean(G& g) {
  g.set(0, [&] { return definitions::expand(g.dy() / elements_each(g), g.x()); });
}
void spatial_extreme(G& g) {
  g.set(0, [&] {
    std::vector<int64_t> spatial;
    for (int axis = 2; axis < g.x().rank(); ++axis) spatial.push_back(axis);
    const Term equal = call("Equal", {g.x(), g.y()});
    return shared_among(equal, g.dy(), sum_along(g, cast(equal, g.x()), spatial));
  });
}

}  // namespace intarsia::definitions::gradients
