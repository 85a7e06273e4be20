// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators that move, copy, cut and join elements: each element's gradient goes back
// to where the element came from.
#include <numeric>
#include <utility>

#include "core/definitions/gradient.h"
#include "core/operators/indexing/scatter.h"
#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/pad.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/reduction/reduction.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;

std::vector<int64_t> inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> result(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    result[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  return result;
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
  g.set(0, [&] { return transpose(g.dy(), inverse(perm)); });
}

void join(G& g) {
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

/// What the operator does to the elements of input 0 it does to their positions, too: they say
/// where the gradients belong.
void moved(G& g) {
  g.set(0, [&] {
    const Term size = call("Size", {g.x()}), last = g.integers({-1});
    const Term positions = call("Range", {size.number(0), size, size.number(1)});
    const Term sources = g.repeat({reshape(positions, g.x())});
    const Term zeros = call("Expand", {g.dy().number(0), call("Reshape", {size, last})});
    const Term sums =
        call("ScatterElements",
             {zeros, call("Reshape", {sources, last}), call("Reshape", {g.dy(), last})},
             {{"reduction", std::string("add")}});
    return reshape(sums, g.x());
  });
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
    return transpose(sums, inverse(rows));
  });
}

/// `read` reads at the indices where the operator writes.
template <class Read>
void scatter_by(G& g, int32_t reduction, const Read& read) {
  const bool sums = reduction == static_cast<int32_t>(ScatterReduction::kAdd);
  if (!sums && reduction != static_cast<int32_t>(ScatterReduction::kNone)) {
    g.refuse("only reductions \"none\" and \"add\" have one");
  }
  g.set(0, [&] {
    if (sums) return g.dy();
    return g.repeat({g.dy(), g.x(1), expand(g.dy().number(0), g.x(2))});
  });
  g.set(2, [&] { return read(g.dy(), g.x(1)); });
}

void scatter(G& g) {
  const auto& attributes = g.attributes<ScatterElementsAttributes>();
  scatter_by(g, attributes.reduction, [&](Term dy, Term indices) {
    return call("GatherElements", {dy, indices}, {{"axis", int64_t{attributes.axis}}});
  });
}

void scatter_tuples(G& g) {
  scatter_by(g, g.attributes<ScatterNDAttributes>().reduction, [](Term dy, Term indices) {
    return call("GatherND", {dy, indices});
  });
}

void pad(G& g) {
  if (g.attributes<PadAttributes>().mode != PadAttributes::kConstant) {
    g.refuse("only mode \"constant\" has a gradient");
  }
  g.set(0, [&] {
    std::vector<Term> operands = {g.dy(), call("Neg", {g.x(1)}), g.dy().number(0)};
    if (g.has_x(3)) operands.push_back(g.x(3));
    return g.add("Pad", operands, {}, 1).front();
  });
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

}  // namespace intarsia::definitions::gradients
