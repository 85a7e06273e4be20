// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators that move, copy, cut and join elements: each element's gradient goes back
// to where the element came from.
#include <numeric>
#include <utility>

#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
#include "core/operators/indexing/scatter.h"
#include "core/operators/indexing/selection.h"
#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/pad.h"
#include "core/operators/movement/resize.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/reduction/reduction.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;

/// `moved` does to positions what the operator does to the elements of input 0: they say where the
/// gradients belong.
template <class Moved>
Term back_where_from(G& g, const Moved& moved) {
  const Term size = call("Size", {g.x()});
  const Term positions = call("Range", {size.number(0), size, size.number(1)});
  return added_at(moved(reshape(positions, g.x())), g.dy(), g.x());
}

}  // namespace

void copy(G& g) {
  g.set(0, [&] { return g.dy(); });
}

void view(G& g) {
  g.set(0, [&] { return reshape(g.dy(), g.x()); });
}

/// What is kept is scaled in training. The mask says what was kept, and is true outside of it.
void dropout(G& g) {
  if (!g.has_x(2)) return copy(g);
  const auto known = g.x(2).known().values;
  if (known && known->size() == 1 && known->front() == Dim(0)) return copy(g);
  g.set(0, [&] {
    const Term dy = g.dy();
    const auto scalar = [&](Term x) {
      return x.rank() == 0 ? x : call("Reshape", {x, g.integers({})});
    };
    const Term ratio = g.has_x(1) ? cast(scalar(g.x(1)), dy) : dy.number(0.5);
    const Term one = dy.number(1);
    const Term scale = where(scalar(g.x(2)), one / (one - ratio), one);
    return dy * cast(g.y(1), dy) * scale;
  });
}

void transpose(G& g) {
  const auto listed = g.attributes<TransposeAttributes>().perm.view();
  std::vector<int64_t> perm(listed.begin(), listed.end());
  for (int axis = g.x().rank() - 1; listed.empty() && axis >= 0; --axis) perm.push_back(axis);
  g.set(0, [&] { return transpose(g.dy(), inverse_order(perm)); });
}

void concat(G& g) {
  int64_t axis = g.attributes<ConcatAttributes>().axis;
  if (axis < 0) axis += g.x().rank();
  std::vector<Term> lengths;
  for (int i = 0; i < g.input_count(); ++i) {
    lengths.push_back(call("Shape", {g.x(i)}, {{"start", axis}, {"end", axis + 1}}));
  }
  const Term split = g.add("Concat", lengths, {{"axis", int64_t{0}}}, 1).front();
  const std::vector<Term> operands = {g.dy(), split};
  const std::vector<Term> parts =
      g.add("Split", operands, {{"axis", axis}}, static_cast<int>(lengths.size()));
  for (int i = 0; i < g.input_count(); ++i) {
    g.set(i, [&] { return parts[static_cast<size_t>(i)]; });
  }
}

void split(G& g) {
  g.set(0, [&] {
    std::vector<Term> parts;
    for (int i = 0; i < g.output_count(); ++i) parts.push_back(g.dy(i));
    const int64_t axis = g.attributes<SplitAttributes>().axis;
    return g.add("Concat", parts, {{"axis", axis}}, 1).front();
  });
}

void moved(G& g) {
  g.set(0,
        [&] { return back_where_from(g, [&](Term positions) { return g.repeat({positions}); }); });
}

/// As `moved`, without a position for every element of what may be a large table.
void gather(G& g) {
  g.set(0, [&] {
    const Term indices = cast(g.x(1), g.integers({}));
    const int64_t rank = g.x().rank(), replaced = indices.rank();
    int64_t axis = g.attributes<AxisAttributes>().axis;
    if (axis < 0) axis += rank;
    // The named axis, or what stands in its place, comes first.
    std::vector<int64_t> rows(static_cast<size_t>(rank)), perm;
    std::iota(rows.begin(), rows.end(), 0);
    std::rotate(rows.begin(), rows.begin() + axis, rows.begin() + axis + 1);
    for (int64_t i = 0; i < replaced; ++i) perm.push_back(axis + i);
    for (int64_t i = 0; i < rank - 1 + replaced; ++i) {
      if (i < axis || i >= axis + replaced) perm.push_back(i);
    }
    const Term extents = call("Gather", {shape_of(g.x()), g.integers(rows)});
    const Term zeros = call("Expand", {g.dy().number(0), extents});
    const Term sums =
        call("ScatterND",
             {zeros, call("Unsqueeze", {indices, g.integers({-1})}), transpose(g.dy(), perm)},
             {{"reduction", std::string("add")}});
    return transpose(sums, inverse_order(rows));
  });
}

namespace {

/// What a scattering node does with other tensors, at its own indices.
class Scattering {
 public:
  Scattering(G& g, std::string_view writer, std::string_view reader, AttributeMap attributes)
      : g_(g), writer_(writer), reader_(reader), attributes_(std::move(attributes)) {}

  /// The elements at the places that the updates are written to.
  Term read(Term data) const { return call(reader_, {data, g_.x(1)}, attributes_); }
  /// Each update added at its place.
  Term sum(Term data, Term updates) const {
    AttributeMap attributes = attributes_;
    attributes["reduction"] = std::string("add");
    return call(writer_, {data, g_.x(1), updates}, std::move(attributes));
  }

 private:
  G& g_;
  std::string_view writer_, reader_;
  AttributeMap attributes_;
};

Term same_extents(double value, Term like) {
  return expand(like.number(value), like);
}

/// An update's factor is the product of all else that meets at its place. To divide by an update
/// that is 0 it counts as 1. Where one of the others is 0, the product of the rest is multiplied by
/// it, so that it has a slope; of several, the product and its slopes are 0.
void scatter_products(G& g, const Scattering& at) {
  g.set(0, [&] { return g.dy() * g.repeat({same_extents(1, g.x(0)), g.x(1), g.x(2)}); });
  g.set(2, [&] {
    const Term none = call("Equal", {g.x(2), g.x(2).number(0)});
    const Term divisor = where(none, 1, g.x(2)), zero = where(none, g.x(2), 0);
    const auto of_others = [&](Term each) {
      return at.read(at.sum(same_extents(0, g.x(0)), each)) - each;
    };
    const Term zeros = of_others(cast(none, g.x(2))), factor = of_others(zero);
    const Term product = at.read(g.repeat({g.x(0), g.x(1), divisor})) / divisor;
    const auto are = [&](double count) { return call("Equal", {zeros, zeros.number(count)}); };
    return at.read(g.dy()) * product * where(are(0), 1, where(are(1), factor, 0));
  });
}

/// All that equal the extreme share its gradient, as in ReduceMax.
void scatter_extremes(G& g, const Scattering& at) {
  const auto chosen = [](Term of, Term extreme) { return call("Equal", {of, extreme}); };
  const auto share = [&] {
    const Term data = cast(chosen(g.x(0), g.y()), g.y());
    const Term updates = cast(chosen(g.x(2), at.read(g.y())), g.y());
    return g.dy() / at.sum(data, updates);
  };
  g.set(0, [&] { return where(chosen(g.x(0), g.y()), share(), 0); });
  g.set(2, [&] { return where(chosen(g.x(2), at.read(g.y())), at.read(share()), 0); });
}

void scatter_by(G& g, int32_t reduction, const Scattering& at) {
  switch (static_cast<ScatterReduction>(reduction)) {
    case ScatterReduction::kMul:
      return scatter_products(g, at);
    case ScatterReduction::kMax:
    case ScatterReduction::kMin:
      return scatter_extremes(g, at);
    default:
      break;
  }
  g.set(0, [&] {
    if (reduction == static_cast<int32_t>(ScatterReduction::kAdd)) return g.dy();
    return g.repeat({g.dy(), g.x(1), same_extents(0, g.x(2))});
  });
  g.set(2, [&] { return at.read(g.dy()); });
}

}  // namespace

void scatter(G& g) {
  const auto& a = g.attributes<ScatterElementsAttributes>();
  scatter_by(g, a.reduction, {g, "ScatterElements", "GatherElements", {{"axis", int64_t{a.axis}}}});
}

void scatter_tuples(G& g) {
  scatter_by(g, g.attributes<ScatterNDAttributes>().reduction, {g, "ScatterND", "GatherND", {}});
}

void pad(G& g) {
  const bool repeats = g.attributes<PadAttributes>().mode != PadAttributes::kConstant;
  // Input 2 may be there although only the mode "constant" reads it.
  const auto padded = [&](Term data, Term pads, AttributeMap attributes) {
    std::vector<Term> operands = {data, pads, data.number(0)};
    if (g.has_x(3)) operands.push_back(g.x(3));
    return g.add("Pad", operands, std::move(attributes), 1).front();
  };
  g.set(0, [&] {
    if (!repeats) return padded(g.dy(), call("Neg", {g.x(1)}), {});
    return back_where_from(g, [&](Term positions) { return padded(positions, g.x(1), g.given()); });
  });
  if (repeats) g.set_zero(2);
}

void triangle(G& g) {
  g.set(0, [&] { return g.repeat({g.dy()}); });
}

void cumulate(G& g) {
  const auto& a = g.attributes<CumulativeAttributes>();
  g.set(0, [&] {
    return call("CumSum", {g.dy(), g.x(1)},
                {{"exclusive", int64_t{a.exclusive}}, {"reverse", int64_t{1 - a.reverse}}});
  });
}

/// Input 2 has what is at the other places, then what is at those of the indices.
void one_hot(G& g) {
  g.set_zero(0);
  g.set_zero(1);
  g.set(2, [&] {
    const Term at = g.repeat({g.x(0), g.x(1), cast(g.integers({0, 1}), g.x(2))});
    const auto sum = [](Term term) { return row_of(call("ReduceSum", {term})); };
    return join({sum(g.dy() * (1 - at)), sum(g.dy() * at)}, 0);
  });
}

void top(G& g) {
  const int64_t axis = g.attributes<TopKAttributes>().axis;
  g.set(0, [&] {
    const Term zeros = filled(g.dy(), 0, shape_of(g.x()));
    return call("ScatterElements", {zeros, g.y(1), g.dy()}, {{"axis", axis}});
  });
}

namespace {

/// True if scales are given, and no sizes; empty tensors count as absent.
bool has_scales(G& g) {
  return g.has_x(2) && !(g.x(2).extent(0) == Dim(0));
}

/// True if an axis stays as it is.
bool keeps_axis(G& g, const ResizeAttributes& a, int element, int axis) {
  if (a.coordinates == ResizeAttributes::kCropAndResize) return false;
  if (!has_scales(g)) return g.x().extent(axis) == g.y().extent(axis);
  const SymbolicInput scales = g.x(2).known();
  return scales.reals && (*scales.reals)[static_cast<size_t>(element)] == 1;
}

/// What Resize does along `axis` with each of the axis' elements being 1 alone: the matrix by which
/// it multiplies, along axis `along` of it.
Term resize_matrix(G& g, const ResizeAttributes& a, int element, int axis, int64_t along) {
  const Term extent = extents(g.x(), axis, axis + 1);
  const Term unit = call("EyeLike", {filled(g.x(), 0, join({extent, extent}, 0))});
  const int count = a.axes.count > 0 ? a.axes.count : g.x().rank();
  const auto of_axis = [&](int input, const std::vector<int64_t>& elements) {
    return call("Gather", {g.x(input), g.integers(elements)});
  };
  // Empty tensors count as absent inputs.
  const Term none = cast_to(g.integers({}), DataType::kFloat);
  std::vector<Term> operands{unit, none, none};
  if (g.has_x(1) && a.coordinates == ResizeAttributes::kCropAndResize) {
    operands[1] = of_axis(1, {element, count + element});
  }
  if (has_scales(g)) {
    operands[2] = of_axis(2, {element});
  } else {
    operands.push_back(of_axis(3, {element}));
  }
  AttributeMap attributes = g.given();
  attributes["axes"] = std::vector<int64_t>{along};
  attributes["extrapolation_value"] = 0.0F;
  return g.add("Resize", operands, attributes, 1).front();
}

}  // namespace

/// The nearest element moves; else the result is a product with a matrix along each axis.
void resize(G& g) {
  const auto& a = g.attributes<ResizeAttributes>();
  const bool crops = a.coordinates == ResizeAttributes::kCropAndResize;
  if (a.mode == ResizeAttributes::kNearest && !crops) return moved(g);
  if (a.policy != ResizeAttributes::kStretch && !has_scales(g)) {
    g.refuse("keep_aspect_ratio_policy has to be \"stretch\" but for mode \"nearest\"");
  }
  g.set(0, [&] {
    const int rank = g.x().rank();
    Term dx = g.dy();
    for (int i = 0; i < (a.axes.count > 0 ? a.axes.count : rank); ++i) {
      const int axis = ops::Resize::axis_of(a, rank, i);
      if (keeps_axis(g, a, i, axis)) continue;
      if (axis == rank - 1) {
        dx = call("MatMul", {dx, resize_matrix(g, a, i, axis, 0)});
        continue;
      }
      // Axes before and behind are one each.
      const Term before = extents(dx, 0, axis), behind = extents(dx, axis + 1, rank);
      const auto product = [&](Term part) { return call("ReduceProd", {part, g.integers({0})}); };
      const Term columns = with_extents(
          dx, join({product(before), extents(dx, axis, axis + 1), product(behind)}, 0));
      dx = with_extents(call("MatMul", {resize_matrix(g, a, i, axis, 1), columns}),
                        join({before, extents(g.x(), axis, axis + 1), behind}, 0));
    }
    return dx;
  });
}

}  // namespace intarsia::definitions::gradients
