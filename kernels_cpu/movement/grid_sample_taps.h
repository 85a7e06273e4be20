// SPDX-License-Identifier: Apache-2.0
//
// Where the points of GridSample lie: the elements along an axis that a point has, and their
// weights; the elements of an image.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/operators/movement/grid_sample.h"
#include "intarsia/tensor.h"

namespace intarsia::cpu {

inline constexpr int kMostTaps = 4;

template <class V>
struct AxisTaps {
  int count;
  int64_t index[kMostTaps];  ///< -1: no element, its value is 0.
  V weight[kMostTaps];

  void set(int k, int64_t at, V factor) {
    index[k] = at;
    weight[k] = factor;
  }
};

/// x thrown back at the ends until it lies between them.
template <class V>
V reflect(V x, V low, V high) {
  const V range = high - low;
  if (range <= 0) return low;
  if (x >= low && x <= high) return x;
  const V beyond = x < low ? low - x : x - high;
  const V whole = std::floor(beyond / range);
  const V rest = beyond - whole * range;
  const bool turned = std::fmod(whole, V{2}) != 0;
  return (x < low) != turned ? low + rest : high - rest;
}

/// A coordinate of the grid in elements of the image.
template <class V>
V image_place(const GridSampleAttributes& a, V place, V extent) {
  return a.align_corners != 0 ? (place + 1) / 2 * (extent - 1) : ((place + 1) * extent - 1) / 2;
}

/// One axis of an image.
template <class V>
class Axis {
 public:
  Axis(const GridSampleAttributes& a, int64_t extent)
      : a_(a),
        extent_(extent),
        low_(a.align_corners != 0 ? V{0} : V{-0.5}),
        high_(static_cast<V>(extent) - (a.align_corners != 0 ? V{1} : V{0.5})) {}

  void find(V place, AxisTaps<V>& taps) const {
    const auto extent = static_cast<V>(extent_);
    V x = image_place(a_, place, extent);
    taps.count = 1;
    if (!(std::fabs(x) <= V{0x1p31})) {
      if (a_.padding_mode == GridSampleAttributes::kZeros) return taps.set(0, -1, 0);
      x = 0;
    }
    if (a_.mode == GridSampleAttributes::kNearest) x = std::nearbyint(x);
    if (a_.padding_mode == GridSampleAttributes::kBorder) {
      // What lies in the outer half of an end element stays where it is.
      x = x < low_ ? 0 : (x > high_ ? extent - 1 : x);
    } else if (a_.padding_mode == GridSampleAttributes::kReflection) {
      x = reflect(x, low_, high_);
    }
    auto i = static_cast<int64_t>(x);
    if (a_.mode == GridSampleAttributes::kNearest) return taps.set(0, element(i), 1);
    i -= static_cast<V>(i) > x ? 1 : 0;  // rounded down, without a call
    const V t = x - static_cast<V>(i);
    if (a_.mode == GridSampleAttributes::kLinear) {
      taps.count = 2;
      taps.set(0, element(i), 1 - t);
      return taps.set(1, element(i + 1), t);
    }
    taps.count = 4;
    taps.set(0, element(i - 1), outer(t));
    taps.set(1, element(i), inner(t));
    taps.set(2, element(i + 1), inner(1 - t));
    taps.set(3, element(i + 2), outer(1 - t));
  }

 private:
  static V inner(V t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1; }
  static V outer(V t) { return ((kA * (t + 1) - 5 * kA) * (t + 1) + 8 * kA) * (t + 1) - 4 * kA; }

  int64_t element(int64_t i) const {
    if (i >= 0 && i < extent_) return i;
    if (a_.padding_mode == GridSampleAttributes::kZeros) return -1;
    if (a_.padding_mode == GridSampleAttributes::kReflection) {
      i = static_cast<int64_t>(reflect(static_cast<V>(i), low_, high_));
    }
    return i < 0 ? 0 : (i >= extent_ ? extent_ - 1 : i);
  }

  static constexpr V kA = V{-0.75};
  const GridSampleAttributes& a_;
  int64_t extent_;
  V low_, high_;
};

/// Calls `body(offset, weight)` for each element of the image that a point has.
template <class V, class Body>
void for_taps(const AxisTaps<V>* taps, const int32_t* extents, int axes, const Body& body) {
  int at[kMaxRank] = {};
  while (true) {
    int64_t offset = 0;
    V weight = 1;
    for (int axis = 0; axis < axes && offset >= 0; ++axis) {
      const int64_t index = taps[axis].index[at[axis]];
      offset = index < 0 ? -1 : offset * extents[axis] + index;
      weight *= taps[axis].weight[at[axis]];
    }
    if (offset >= 0) body(offset, weight);
    int axis = axes - 1;
    for (; axis >= 0 && ++at[axis] == taps[axis].count; --axis) at[axis] = 0;
    if (axis < 0) return;
  }
}

/// A run of points: for those between elements along all axes, the first of these, and how far
/// behind it the point is along each axis.
template <class V>
struct PointsInside {
  static constexpr int64_t kMost = 32;
  static constexpr int kMostAxes = 4;
  static constexpr int64_t kNone = -1, kZero = -2;
  /// kNone: the point is none of these; kZero: no element is at the point, its value is 0.
  int64_t offset[kMost];
  V part[kMostAxes][kMost];
};

/// The elements of a point and their weights, if they are few.
template <class V>
struct TapList {
  static constexpr int kMost = 16;
  int count = 0;
  bool pairs = false;  ///< Entries 2 k and 2 k + 1 are neighbours in the image, for all k.
  int64_t offset[kMost];
  V weight[kMost];

  /// Point i of these, with two elements along each axis.
  void fill(const PointsInside<V>& points, int64_t i, const int32_t* extents, int axes) {
    static_assert(1 << PointsInside<V>::kMostAxes <= kMost);
    count = points.offset[i] == PointsInside<V>::kZero ? 0 : 1;
    pairs = true;
    if (count == 0) return;
    offset[0] = points.offset[i];
    weight[0] = 1;
    // The last axis, whose elements are neighbours, comes first: the others go behind it.
    int64_t step = 1;
    for (int axis = axes - 1; axis >= 0; --axis) {
      const V t = points.part[axis][i];
      for (int k = 0; k < count; ++k) {
        offset[count + k] = offset[k] + step;
        weight[count + k] = weight[k] * t;
        weight[k] *= 1 - t;
      }
      count *= 2;
      step *= extents[axis];
    }
  }
  /// False if there are too many.
  bool fill(const AxisTaps<V>* taps, const int32_t* extents, int axes) {
    int all = 1;
    for (int axis = 0; axis < axes && all <= kMost; ++axis) all *= taps[axis].count;
    if (all > kMost) return false;
    count = 1;
    offset[0] = 0;
    weight[0] = 1;
    bool some = false;  // of the elements are outside
    for (int axis = 0; axis < axes; ++axis) {
      switch (taps[axis].count) {
        case 1:
          some |= extend<1>(taps[axis], extents[axis]);
          break;
        case 2:
          some |= extend<2>(taps[axis], extents[axis]);
          break;
        default:
          some |= extend<kMostTaps>(taps[axis], extents[axis]);
      }
    }
    if (some) drop_outside();
    // What the last axis has, all rows have.
    const AxisTaps<V>& last = taps[axes - 1];
    pairs = !some && last.count % 2 == 0;
    for (int k = 0; k < last.count && pairs; k += 2) {
      pairs = last.index[k + 1] == last.index[k] + 1;
    }
    return true;
  }

 private:
  /// Each entry becomes one for each tap; true if some of them lie outside.
  template <int kTaps>
  bool extend(const AxisTaps<V>& taps, int64_t extent) {
    bool some = false;
    // In place, from the last one on.
    for (int i = count - 1; i >= 0; --i) {
      const int64_t row = offset[i] < 0 ? -1 : offset[i] * extent;
      const V factor = weight[i];
      for (int k = kTaps - 1; k >= 0; --k) {
        const bool outside = row < 0 || taps.index[k] < 0;
        offset[i * kTaps + k] = outside ? -1 : row + taps.index[k];
        weight[i * kTaps + k] = factor * taps.weight[k];
        some |= outside;
      }
    }
    count *= kTaps;
    return some;
  }
  void drop_outside() {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      offset[kept] = offset[i];
      weight[kept] = weight[i];
      kept += offset[i] < 0 ? 0 : 1;
    }
    count = kept;
  }
};

}  // namespace intarsia::cpu
