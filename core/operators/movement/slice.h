// SPDX-License-Identifier: Apache-2.0
//
// Shape rule of Slice, and the range of indices that rule and kernels agree on.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

namespace ops {

struct Slice {
  static constexpr std::string_view name = "Slice";

  /// First index, number of indices, and step along one axis.
  template <class Dim>
  struct Range {
    Dim first = int64_t{0};
    Dim extent = int64_t{0};
    int64_t step = 1;
  };

  /// `bound` as an index: counted from the back if negative, then clamped to [low, high].
  template <class Dim>
  static Dim clamp_index(const Dim& bound, const Dim& extent, int64_t low, const Dim& high) {
    Dim index = bound;
    if (is_constant(bound)) {
      const int64_t value = constant_value(bound);
      if (value >= kBeyondExtents) return high;
      if (value <= -kBeyondExtents) {
        index = low;
      } else if (value < 0) {
        index = extent + bound;
      }
    } else {
      // 1 if the bound is not negative, else 0.
      const Dim from_front = dim_max(Dim(int64_t{0}), dim_min(bound + Dim(int64_t{1}), int64_t{1}));
      index = bound + extent - extent * from_front;
    }
    return dim_min(dim_max(index, Dim(low)), high);
  }

  /// REQUIRES: step != 0.
  template <class Dim>
  static Range<Dim> range(const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
    const Dim zero = int64_t{0};
    const Dim last = extent - Dim(int64_t{1});
    Range<Dim> result;
    if (step > 0) {
      result.step = step < kBeyondExtents ? step : kBeyondExtents;
      result.first = clamp_index(start, extent, 0, extent);
      const Dim stop = clamp_index(end, extent, 0, extent);
      result.extent = ceil_div(stop - result.first, Dim(result.step));
    } else {
      result.step = step > -kBeyondExtents ? step : -kBeyondExtents;
      result.first = clamp_index(start, extent, 0, last);
      const Dim stop = clamp_index(end, extent, -1, last);
      result.extent = ceil_div(result.first - stop, Dim(-result.step));
    }
    result.extent = dim_max(zero, result.extent);
    const bool exact = is_constant(start) && is_constant(end);
    if (!exact) result.extent = dim_min(result.extent, extent);
    return result;
  }

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0);
    const int64_t count = s.value_count(1);
    int axes[kMaxRank] = {};
    bool known = true;
    if (Status t = read_axes(s, 3, count, rank, axes, known); !t) return t;
    if (Status t = require_length(s, 2, count, "elements of ends"); !t) return t;
    if (Status t = require_length(s, 3, count, "elements of axes"); !t) return t;
    if (Status t = require_length(s, 4, count, "elements of steps"); !t) return t;
    Shape<Dim> y = s.shape(0);
    for (int i = 0; !known && i < rank; ++i) y[i] = at_most(y[i]);
    for (int i = 0; known && i < count; ++i) {
      Dim& extent = y[axes[i]];
      const Dim step = s.has_input(4) ? s.value(4, i) : Dim(int64_t{1});
      if (!is_constant(step)) {
        extent = at_most(extent);
      } else if (constant_value(step) == 0) {
        return s.fail(Code::kInvalidValue, "step", 1, 0, 4, axes[i]);
      } else {
        extent = range(s.value(1, i), s.value(2, i), constant_value(step), extent).extent;
      }
    }
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace ops
}  // namespace intarsia
