// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions, of operators that normalise along an axis, and of global pooling.
#include <algorithm>

#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
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
Term sum_reduced(G& g, Term term) {
  std::vector<Term> operands = {term};
  if (g.has_x(1)) operands.push_back(g.x(1));
  const int64_t noop = g.attributes<ReduceAttributes>().noop_with_empty_axes;
  const AttributeMap attributes = {{"keepdims", int64_t{1}}, {"noop_with_empty_axes", noop}};
  return g.add("ReduceSum", operands, attributes, 1).front();
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

/// The reduced axes.
std::vector<int64_t> reduced_axes(G& g) {
  std::vector<int64_t> axes;
  if (g.has_x(1)) {
    const auto known = known_integers(g.x(1));
    if (!known) g.refuse("the axes have to be known");
    axes = *known;
  }
  const int rank = g.x().rank();
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  const bool none = g.attributes<ReduceAttributes>().noop_with_empty_axes != 0;
  return axes.empty() && !none ? axes_between(0, rank) : axes;
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
    return shared_among(equal, kept(g, g.dy()), sum_reduced(g, cast(equal, g.x())));
  });
}

/// Each element goes with the product of those before it and those behind it, so that none is
/// divided by.
void reduce_product(G& g) {
  g.set(0, [&] {
    const std::vector<int64_t> reduced = reduced_axes(g);
    std::vector<int64_t> order;
    for (int64_t axis = 0; axis < g.x().rank(); ++axis) {
      if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) order.push_back(axis);
    }
    const auto stay = static_cast<int64_t>(order.size());
    order.insert(order.end(), reduced.begin(), reduced.end());
    const Term moved = transpose(g.x(), order);
    const Term rows = call("Flatten", {moved}, {{"axis", stay}});
    const auto others = [&](int64_t reverse) {
      return call("CumProd", {rows, rows.context().number(DataType::kInt64, 1)},
                  {{"exclusive", int64_t{1}}, {"reverse", reverse}});
    };
    const Term product = reshape(others(0) * others(1), moved);
    return transpose(product, inverse_order(order)) * kept(g, g.dy());
  });
}

/// Each element times the one so far in front of it, then the ones 2, 4, 8, ... in front of it: no
/// element is divided by.
void cumulative_product(G& g) {
  const auto& a = g.attributes<CumulativeAttributes>();
  const auto listed = known_integers(g.x(1));
  if (!listed || listed->size() != 1) g.refuse("the axis has to be known");
  const int64_t rank = g.x().rank(), axis = listed->front() + (listed->front() < 0 ? rank : 0);
  const int64_t most = g.x().extent(axis).upper();
  if (most == kInfinite) g.refuse("the extent of the axis has to have a bound");
  g.express(0, [&] {
    const auto shifted = [&](Term term, int64_t distance) {
      const Term by = call("Min", {g.integers({distance}), extents(term, axis, axis + 1)});
      const Term pads = a.reverse != 0 ? join({-by, by}, 0) : join({by, -by}, 0);
      return call("Pad", {term, pads, term.number(1), g.integers({axis})});
    };
    Term product = a.exclusive != 0 ? shifted(g.x(0), 1) : g.x(0);
    for (int64_t distance = 1; distance < most; distance *= 2) {
      product = product * shifted(product, distance);
    }
    return product;
  });
}

void softmax(G& g) {
  g.set(0, [&] {
    const Term dot = sum_over(g.dy() * g.y(), axis_of(g));
    return (g.dy() - dot) * g.y();
  });
}
void log_softmax(G& g) {
  g.set(0, [&] { return g.dy() - call("Exp", {g.y()}) * sum_over(g.dy(), axis_of(g)); });
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
    const std::vector<int64_t> spatial = axes_between(2, g.x().rank());
    const Term equal = call("Equal", {g.x(), g.y()});
    return shared_among(equal, g.dy(), sum_over(cast(equal, g.x()), spatial));
  });
}

}  // namespace intarsia::definitions::gradients
