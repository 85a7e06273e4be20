// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators that read images at places between their elements, as formulas:
//
//     y = sum over the taps k of a place of image[k] * product over the axes of weight(|place - k|)
//
// A weight is a polynomial, so that the gradients of images and of places follow from those of
// arithmetic and of GatherND. Places and indices are tensors [N, P..., axes], in elements of an
// image [N, C, D...].
#include <algorithm>
#include <functional>
#include <utility>

#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
#include "core/operators/movement/grid_sample.h"
#include "core/operators/nn/deform_conv.h"
#include "core/operators/nn/roi.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;
using Integers = std::vector<int64_t>;

/// One of the elements along an axis that a place has.
struct Tap {
  int64_t offset;     ///< From the element before the place.
  Integers quarters;  ///< Of its weight, the coefficients by powers of the distance, highest first.
};
using Taps = std::vector<Tap>;

Taps nearest_tap() {
  return {{0, {4}}};
}
Taps linear_taps() {
  return {{0, {-4, 4}}, {1, {-4, 4}}};
}
/// Those of Keys with a = -0.75.
Taps cubic_taps() {
  const Integers inner{5, -9, 0, 4}, outer{-3, 15, -24, 12};
  return {{-1, outer}, {0, inner}, {1, inner}, {2, outer}};
}

/// A constant [combinations, axes] in the type of `like`: `of(tap)` for the tap of each axis, in
/// all combinations of taps.
template <class Of>
Term table(Term like, int axes, const Taps& taps, const Of& of) {
  Integers numbers(static_cast<size_t>(axes), 0), elements;
  int64_t combinations = 0;
  for (bool more = true; more; ++combinations) {
    for (const int64_t number : numbers) elements.push_back(of(taps[static_cast<size_t>(number)]));
    more = false;
    for (size_t axis = numbers.size(); axis-- > 0 && !more;) {
      more = ++numbers[axis] < static_cast<int64_t>(taps.size());
      if (!more) numbers[axis] = 0;
    }
  }
  return cast(with_extents(integers(like, elements), integers(like, {combinations, axes})), like);
}

/// What an index outside of the image stands for: another index, or for 0 if it stays outside.
using Inside = std::function<Term(Term index)>;

/// The images at the places: [N, P..., C], in the type of the places.
Term sampled(Term images, Term places, const Taps& taps, const Inside& inside) {
  const int axes = images.rank() - 2;
  const Term last = cast(extents(images, 2, images.rank()), places) - 1.0;
  const Term before = call("Floor", {places});
  const Term offsets = table(places, axes, taps, [](const Tap& tap) { return tap.offset; });
  // The distance by its sign, which is known: Abs would have no slope at an element.
  const Term sign =
      table(places, axes, taps, [](const Tap& tap) { return tap.offset > 0 ? -1 : 1; });
  const Term distance = (unsqueeze(places - before, {-2}) - offsets) * sign;
  const auto coefficients = [&](size_t power) {
    return table(places, axes, taps, [&](const Tap& tap) { return tap.quarters[power]; }) / 4.0;
  };
  Term weight = coefficients(0);
  for (size_t power = 1; power < taps.front().quarters.size(); ++power) {
    weight = weight * distance + coefficients(power);
  }
  const auto over_axes = [&](std::string_view reduction, Term term) {
    return call(reduction, {term, integers(term, {-1})}, {{"keepdims", int64_t{0}}});
  };
  const Term index = inside(unsqueeze(before, {-2}) + offsets);
  const Term held = call("Max", {call("Min", {index, last}), last.number(0)});
  const Term there = over_axes("ReduceMin", cast(call("Equal", {index, held}), places));
  Integers channels_last = axes_between(0, images.rank());
  channels_last.erase(channels_last.begin() + 1);
  channels_last.push_back(1);
  const Term elements =
      call("GatherND", {transpose(images, channels_last), cast_to(held, DataType::kInt64)},
           {{"batch_dims", int64_t{1}}});
  const Term weights = unsqueeze(over_axes("ReduceProd", weight) * there, {-2});
  return call("Squeeze", {call("MatMul", {weights, elements}), integers(weights, {-2})});
}

}  // namespace

void grid_sample(G& g) {
  using A = GridSampleAttributes;
  const auto& a = g.attributes<A>();
  const bool corners = a.align_corners != 0, zeros = a.padding_mode == A::kZeros;
  g.express(0, [&] {
    const Term images = wide(g.x(0));
    const int rank = images.rank();
    Integers reversed = axes_between(0, rank - 2);  // the grid has the last axis first
    std::reverse(reversed.begin(), reversed.end());
    const Term grid =
        cast(call("Gather", {g.x(1), g.integers(reversed)}, {{"axis", int64_t{-1}}}), images);
    const Term size = cast(extents(images, 2, rank), images);
    const double low = corners ? 0 : -0.5;
    const Term range = size - (corners ? 1.0 : 0.0), high = range + low;
    // To and fro between `low` and `high`.
    const Term period = 2 * call("Max", {range, range.number(1)});
    const auto reflected = [&](Term x) {
      const Term from_low = x - low;
      const Term within = from_low - call("Floor", {from_low / period}) * period;
      return high - call("Abs", {period / 2.0 - within});
    };

    Term places = corners ? (grid + 1.0) / 2.0 * range : ((grid + 1.0) * size - 1.0) / 2.0;
    const Term near = call("LessOrEqual", {call("Abs", {places}), places.number(0x1p31)});
    places = where(near, places, zeros ? -8.0 : 0.0);
    if (a.mode == A::kNearest) places = call("Round", {places});
    if (a.padding_mode == A::kReflection) places = reflected(places);
    if (a.padding_mode == A::kBorder) {
      // What lies in the outer half of an end element stays where it is.
      places = where(call("Less", {places, places.number(low)}), 0, places);
      places = where(call("Greater", {places, high}), size - 1.0, places);
    }
    const Taps taps = a.mode == A::kNearest  ? nearest_tap()
                      : a.mode == A::kLinear ? linear_taps()
                                             : cubic_taps();
    const Term y = sampled(images, places, taps, [&](Term index) {
      if (a.padding_mode == A::kReflection) index = reflected(index);
      return zeros ? index : call("Max", {call("Min", {index, size - 1.0}), index.number(0)});
    });
    Integers channels_second = axes_between(1, rank - 1);
    channels_second.insert(channels_second.begin(), {0, rank - 1});
    return cast(transpose(y, channels_second), g.x(0));
  });
}

/// The taps of each place of the result as columns, then a product with the weights.
void deform_conv(G& g) {
  const auto& a = g.attributes<DeformConvAttributes>();
  g.express(0, [&] {
    const auto one = [&](int64_t extent) { return g.integers({extent}); };
    const Term x = wide(g.x(0)), weights = wide(g.x(1));
    const Term batch = extents(x, 0, 1), taps = extents(weights, 2, 4), image = extents(x, 2, 4),
               result = extents(g.x(2), 2, 4);
    // A group of offsets is a batch of its own.
    const Term sets = batch * one(a.offset_group);
    const Term share = extents(x, 1, 2) / one(a.offset_group);
    const Term offsets = transpose(
        with_extents(wide(g.x(2)), join({sets, taps, one(2), result}, 0)), {0, 1, 2, 4, 5, 3});
    const Term places_extents = join({taps, result}, 0);
    const auto coordinate = [&](int axis) {
      const int64_t stride = a.window.stride(axis), dilation = a.window.dilation(axis);
      const auto along = [&](Term counted, int64_t step, Integers axes) {
        return unsqueeze(counted * counted.number(static_cast<double>(step)), axes);
      };
      const Integers of_taps = axis == 0 ? Integers{1, 2, 3} : Integers{0, 2, 3};
      const Integers of_result = axis == 0 ? Integers{0, 1, 3} : Integers{0, 1, 2};
      const Term first = along(positions(weights, 2 + axis), dilation, of_taps) +
                         along(positions(g.x(2), 2 + axis), stride, of_result);
      const Term padded = first - first.number(static_cast<double>(a.window.explicit_pad(axis)));
      return unsqueeze(call("Expand", {padded, places_extents}), {-1});
    };
    const Term places = cast(join({coordinate(0), coordinate(1)}, -1), offsets) + offsets;
    Term read = sampled(with_extents(x, join({sets, share, image}, 0)), places, linear_taps(),
                        [](Term index) { return index; });
    if (g.has_x(4)) {
      const Term factors = with_extents(wide(g.x(4)), join({sets, taps, result}, 0));
      read = read * unsqueeze(factors, {-1});
    }
    const auto product = [&](Term part) { return call("ReduceProd", {part, one(0)}); };
    const Term group = one(a.group), filters = extents(weights, 0, 1);
    const Term depth = extents(weights, 1, 2) * product(taps);
    const Term columns = with_extents(transpose(read, {0, 5, 1, 2, 3, 4}),
                                      join({batch, group, depth, product(result)}, 0));
    const Term rows = with_extents(weights, join({group, filters / group, depth}, 0));
    Term y = with_extents(call("MatMul", {rows, columns}), join({batch, filters, result}, 0));
    if (g.has_x(3)) y = y + unsqueeze(wide(g.x(3)), {1, 2});
    return cast(y, g.x(0));
  });
}

/// The points of a bin are a grid, so that the mean is linear in the image along either axis:
///
///     Y[r, c] = rows[r] X[image of r, c] columns[r]',   rows [bins, H], columns [bins, W].
///
/// The operator itself gives these matrices: rows are what it makes of images of one column whose
/// channel k is 1 in row k alone, with regions as wide as that column.
void roi_align(G& g) {
  const auto& a = g.attributes<RoiAlignAttributes>();
  if (g.needs(1)) {
    g.refuse("regions ('rois') have none; let them depend on nothing that is differentiated");
  }
  if (a.mode != RoiAlignAttributes::kAverage) g.refuse("mode has to be \"avg\"");
  g.set(0, [&] {
    const auto one = [&](int64_t extent) { return g.integers({extent}); };
    const Term dy = wide(g.dy()), regions = extents(g.x(1), 0, 1), images = extents(g.x(0), 0, 1);
    const Term corners = wide(g.x(1)) * wide(g.x(1)).number(static_cast<double>(a.spatial_scale));
    const Term zeros = call("Expand", {g.integers({0}), regions});
    // [regions, extent of the axis, bins]
    const auto weights = [&](int axis, int64_t bins) {
      const Term extent = extents(g.x(0), 2 + axis, 3 + axis), shape = join({extent, extent}, 0);
      const Term units =
          unsqueeze(call("EyeLike", {filled(corners, 0, shape)}), {0, axis == 0 ? 3 : 2});
      const auto corner = [&](int64_t i) { return slice(corners, 1, i, i + 1); };
      const Term none = 0 * corner(0), all = none + 1.0;
      const Term spans = axis == 0 ? join({none, corner(1), all, corner(3)}, 1)
                                   : join({corner(0), none, corner(2), all}, 1);
      AttributeMap attributes = g.given();
      attributes["output_height"] = axis == 0 ? bins : 1;
      attributes["output_width"] = axis == 0 ? 1 : bins;
      attributes["spatial_scale"] = 1.0F;
      const Term made = call("RoiAlign", {units, spans, zeros}, attributes);
      return call("Squeeze", {made, one(axis == 0 ? 3 : 2)});
    };
    const Term rows = weights(0, a.output_height), columns = weights(1, a.output_width);
    // Regions of other images count for nothing.
    const Term own = call("Equal", {unsqueeze(g.x(2), {0}), unsqueeze(positions(g.x(0), 0), {1})});
    const Term chosen =
        unsqueeze(transpose(rows, {1, 0, 2}), {0}) * unsqueeze(cast(own, dy), {1, 3});
    const Term along = call("MatMul", {dy, unsqueeze(transposed(columns), {1})});
    const Term lines = regions * one(a.output_height), height = extents(g.x(0), 2, 3);
    // There may be no regions.
    const auto arranged = [](Term term, Term shape) {
      return call("Reshape", {term, shape}, {{"allowzero", int64_t{1}}});
    };
    const Term left = arranged(chosen, join({images, one(1), height, lines}, 0));
    const Term right =
        arranged(transpose(along, {1, 0, 2, 3}),
                 join({one(1), extents(g.x(0), 1, 2), lines, extents(g.x(0), 3, 4)}, 0));
    return cast(call("MatMul", {left, right}), g.x(0));
  });
}

}  // namespace intarsia::definitions::gradients
