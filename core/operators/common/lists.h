// SPDX-License-Identifier: Apache-2.0
//
// What shape rules share that read axes, and lists of axes and extents.
//
// Where an extent depends on elements that only the run knows, a rule gives the largest extent
// possible (`at_most`); the kernel, or the rule with the elements at hand, gives the actual one. A
// rule decides "this extent is at least k" by `dim_max(extent, k) == extent`: exact for numbers,
// and for expressions true where it holds for every assignment.
#pragma once

#include <limits>

#include "core/operators/common/unknown_extent.h"
#include "intarsia/shape.h"

namespace intarsia {

/// Value of an optional `axis` that the model leaves out.
inline constexpr int32_t kNoAxis = std::numeric_limits<int32_t>::min();

namespace ops {

/// Beyond every extent: larger values mean the same to a rule that clamps to an axis.
inline constexpr int64_t kBeyondExtents = int64_t{1} << 31;

template <class Dim>
bool is_at_least(const Dim& extent, int64_t minimum) {
  return dim_max(extent, Dim(minimum)) == extent;
}

/// Product of the extents of axes [first, last).
template <class Dim>
Dim product_of(const Shape<Dim>& shape, int first, int last) {
  Dim product = 1;
  for (int axis = first; axis < last; ++axis) product = product * shape[axis];
  return product;
}

/// `axis`, counted from the back if negative, to an index below `rank`.
template <class S>
Status normalize_axis(const S& s, int64_t axis, int rank, int& result, int operand = 0) {
  if (axis < -rank || axis >= rank) {
    return s.fail(Code::kIndexOutOfRange, "axis out of range", rank, axis, operand);
  }
  result = static_cast<int>(axis < 0 ? axis + rank : axis);
  return {};
}

/// Reads the optional list of axes in input `input`: `count` different axes, without it 0, 1, ...
/// `known` is false if an axis is only known at run time.
template <class S>
Status read_axes(const S& s, int input, int64_t count, int rank, int (&axes)[kMaxRank],
                 bool& known) {
  known = true;
  if (count < 0) return s.fail(Code::kUnsupported, "number of axes that varies", 0, 0, input);
  if (count > rank) return s.fail(Code::kWrongExtent, "number of axes", rank, count, input);
  bool seen[kMaxRank] = {};
  for (int64_t i = 0; i < count; ++i) {
    axes[i] = static_cast<int>(i);
    if (s.has_input(input)) {
      const typename S::Dim axis = s.value(input, i);
      if (!is_constant(axis)) {
        known = false;
        return {};
      }
      if (Status t = normalize_axis(s, constant_value(axis), rank, axes[i], input); !t) return t;
    }
    if (seen[axes[i]]) return s.fail(Code::kInvalidValue, "axis given twice", 0, axes[i], input);
    seen[axes[i]] = true;
  }
  return {};
}

/// Fails unless list `input`, if present, has `count` elements.
template <class S>
Status require_length(const S& s, int input, int64_t count, const char* what) {
  if (!s.has_input(input) || s.value_count(input) == count) return {};
  return s.fail(Code::kWrongExtent, what, count, s.value_count(input), input);
}

/// Number of extents that input `input` lists, if it may be a rank.
template <class S>
Status read_rank(S& s, int input, int& rank) {
  const int64_t count = s.rank(input) == 1 ? s.value_count(input) : -1;
  if (count < 0 || count > kMaxRank) {
    return s.fail(Code::kWrongRank, "number of listed extents", kMaxRank, count, input);
  }
  rank = static_cast<int>(count);
  return {};
}

/// True if input `input`, a list of axes, is known. Always so at run time.
template <class S>
bool axes_are_known(S& s, int input) {
  bool known = s.has_values(input);
  for (int64_t i = 0; known && i < s.value_count(input); ++i)
    known = is_constant(s.value(input, i));
  return known;
}

/// Reads input `input` as a list of axes of a tensor of rank `rank` into `selected`. The axes must
/// be distinct and in range. REQUIRES: they are known.
template <class S>
Status read_axes(S& s, int input, int rank, bool (&selected)[kMaxRank]) {
  for (bool& axis : selected) axis = false;
  const int64_t count = s.value_count(input);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t listed = constant_value(s.value(input, i));
    const int64_t axis = listed < 0 ? listed + rank : listed;
    if (axis < 0 || axis >= rank) {
      return s.fail(Code::kIndexOutOfRange, "axis", rank - 1, listed, input);
    }
    if (selected[axis]) return s.fail(Code::kInvalidValue, "axis given twice", 0, axis, input);
    selected[axis] = true;
  }
  return {};
}

}  // namespace ops
}  // namespace intarsia
