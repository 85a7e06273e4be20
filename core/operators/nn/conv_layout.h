// SPDX-License-Identifier: Apache-2.0
//
// What convolutions gain where the channels are the last axis: estimates that the converter weighs
// the orders of axes by. For data, weights and a result of these extents, in numbers of elements
// that could be reordered in that time; about what was measured. Neighbours that gain share the
// reordering: so it is worth something even where neither order is the faster one.
#pragma once

#include <limits>
#include <span>

#include "core/operators/nn/conv.h"

namespace intarsia::ops {

/// The part of a reordering that a convolution may count on its neighbours for.
inline constexpr double kOfNeighbours = 0.6;

inline double elements(std::span<const int64_t> extents) {
  double count = 1;
  for (const int64_t extent : extents) count *= static_cast<double>(extent);
  return count;
}
/// Lanes that `count` elements take in blocks of `lanes`, as a multiple of them.
inline double waste_of(int64_t count, int64_t lanes) {
  const int64_t all = (count + lanes - 1) / lanes * lanes;
  return static_cast<double>(all) / static_cast<double>(count > 0 ? count : 1);
}

/// Planes fill vectors with columns and channels with filters, planes at an eighth more for each
/// term; planes copy each row that they read for each plane of the kernel. Windows of 3 x 3 have an
/// algorithm of their own for channels alone.
inline double gain_of_channels_last(const ConvAttributes& attributes, std::span<const int64_t> data,
                                    std::span<const int64_t> weights,
                                    std::span<const int64_t> result) {
  constexpr int64_t kVector = 16, kLeastOfWindows = 16;
  constexpr double kTermOfPlanes = 1.125;
  constexpr double kTermsOfElement = 60, kPartOfPhases = 0.2;
  constexpr double kElementsOfRow = 8, kElementsOfLoneRow = 11;  // a channel alone is a unit
  const auto waste = [](int64_t count) { return waste_of(count, kVector); };
  const size_t rank = weights.size(), columns = rank - 1;
  bool one_pixel = true, by_ones = true;
  for (size_t axis = 2; axis < rank; ++axis) {
    const int i = static_cast<int>(axis) - 2;
    one_pixel = one_pixel && weights[axis] == 1;
    by_ones = by_ones && attributes.window.stride(i) == 1 && attributes.window.dilation(i) == 1;
  }
  const bool in_tiles = rank > 3 && by_ones && attributes.group == 1 && weights[columns] == 3 &&
                        weights[rank - 2] == 3 && weights[1] >= kLeastOfWindows &&
                        weights[0] >= kLeastOfWindows;
  if (in_tiles) return std::numeric_limits<double>::infinity();
  const bool one_row = one_pixel && by_ones;
  const bool depthwise = attributes.group > 1 && weights[1] == 1;
  const double of_filters = waste(depthwise ? weights[0] : weights[0] / attributes.group);
  int64_t pixels = 1;
  for (size_t axis = one_row ? 2 : columns; axis < rank; ++axis) pixels *= result[axis];
  const double of_columns = waste(pixels) * kTermOfPlanes;
  double rows = elements(data.subspan(0, 2)), apart = 0;
  if (!one_row) {
    const int64_t stride = attributes.window.stride(static_cast<int>(columns) - 2);
    const int64_t phases = stride < weights[columns] ? stride : weights[columns];
    rows *= static_cast<double>(phases);
    if (phases > 1) apart = kPartOfPhases * elements(data);
    for (size_t axis = 2; axis < columns; ++axis) {
      const bool of_plane = axis + 1 == columns;
      rows *= static_cast<double>(of_plane ? data[axis] : result[axis] * weights[axis]);
    }
  }
  const double terms = elements(result) * elements(weights.subspan(1));
  return kOfNeighbours * (elements(data) + elements(result)) +
         terms * (of_columns - of_filters) / kTermsOfElement +
         (depthwise ? kElementsOfLoneRow : kElementsOfRow) * rows + apart;
}

/// The same for ConvInteger. With the channels last, products are faster, but filters fill panels,
/// and each run of a window is found anew; with the channels first, windows are gathered, where
/// they are more than a pixel, which costs more where pixels are left out. Weights are packed where
/// channels are last.
inline double gain_of_integer_channels_last(const IntegerConvAttributes& attributes,
                                            std::span<const int64_t> data,
                                            std::span<const int64_t> weights,
                                            std::span<const int64_t> result,
                                            bool computed_weights) {
  constexpr double kFirstTermsOfElement = 60, kLastTermsOfElement = 84;
  constexpr double kShifted = 0.4, kStrided = 0.8, kSummed = 0.5, kElementsOfRun = 10;
  constexpr double kTurnedSum = 0.55, kPackedWeight = 2.5;
  constexpr int64_t kPanel = 16, kColumns = 32;
  if (attributes.group != 1 || weights[0] == 0) return std::numeric_limits<double>::infinity();
  int64_t pixels = 1;
  bool same = true, one_pixel = true;
  for (size_t axis = 2; axis < weights.size(); ++axis) {
    pixels *= result[axis];
    same = same && attributes.window.stride(static_cast<int>(axis) - 2) == 1 &&
           data[axis] == result[axis];
    one_pixel = one_pixel && weights[axis] == 1;
  }
  const double sums = elements(result);
  const double windows = static_cast<double>(result[0]) * static_cast<double>(pixels);
  const double of_filter = elements(weights.subspan(1)), terms = sums * of_filter;
  const double gathered = same ? (one_pixel ? 0 : kShifted) : kStrided;
  const double runs = elements(weights.subspan(2, weights.size() - 3));
  const double of_first =
      terms * waste_of(pixels, kColumns) / kFirstTermsOfElement + windows * of_filter * gathered;
  const double of_last = terms * waste_of(weights[0], kPanel) / kLastTermsOfElement +
                         windows * (of_filter * kSummed + runs * kElementsOfRun) +
                         kTurnedSum * sums +
                         (computed_weights ? kPackedWeight * elements(weights) : 0);
  return kOfNeighbours * (elements(data) + sums) + of_first - of_last;
}

}  // namespace intarsia::ops
