// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of Shape and Size, which read extents.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct ShapeAttributes {
  int32_t start = 0;
  int32_t end = INT32_MAX;
  template <class V>
  void fields(V& v) {
    v("start", start);
    v("end", end);
  }
};
static_assert(is_plan_struct<ShapeAttributes>);

/// The axes that Shape reads: [start, end) after counting from the end and clamping.
struct AxisRange {
  int start = 0;
  int end = 0;
  constexpr AxisRange(const ShapeAttributes& attributes, int rank)
      : start(clamp(attributes.start, rank)), end(clamp(attributes.end, rank)) {
    if (end < start) end = start;
  }
  static constexpr int clamp(int32_t axis, int rank) {
    if (axis < 0) axis = axis < -rank ? 0 : axis + rank;
    return axis > rank ? rank : axis;
  }
};

namespace ops {

struct ShapeOf {
  using Attributes = ShapeAttributes;
  static constexpr std::string_view name = "Shape";
  template <class S>
  static Status infer(S& s) {
    const AxisRange axes(s.template attributes<ShapeAttributes>(), s.rank(0));
    Shape<typename S::Dim> result;
    result.push(axes.end - axes.start);
    return s.set_output(0, DataType::kInt64, result);
  }
};

struct Size {
  static constexpr std::string_view name = "Size";
  template <class S>
  static Status infer(S& s) {
    return s.set_output(0, DataType::kInt64, {});
  }
};

}  // namespace ops
}  // namespace intarsia
