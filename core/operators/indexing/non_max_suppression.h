// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of NonMaxSuppression.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct NonMaxSuppressionAttributes {
  /// 0: boxes are two corners (y1, x1, y2, x2); 1: centre and size (x, y, width, height).
  int32_t center_point_box = 0;
  template <class V>
  void fields(V& v) {
    v("center_point_box", center_point_box, kFlag);
  }
};
static_assert(is_plan_struct<NonMaxSuppressionAttributes>);

namespace ops {

/// Indices (batch, class, box), at most max_output_boxes_per_class of each batch and class.
struct NonMaxSuppression {
  static constexpr std::string_view name = "NonMaxSuppression";
  using Attributes = NonMaxSuppressionAttributes;
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    for (int input = 0; input < 2; ++input) {
      if (s.rank(input) != 3) return s.fail(Code::kWrongRank, "rank", 3, s.rank(input), input);
    }
    Dim four = int64_t{4};
    if (Status t = s.require_equal(four, s.dim(0, 2), "numbers per box", 0, 2); !t) return t;
    if (Status t = s.require_equal(s.dim(0, 0), s.dim(1, 0), "batches", 1, 0); !t) return t;
    if (Status t = s.require_equal(s.dim(0, 1), s.dim(1, 2), "boxes", 1, 2); !t) return t;
    Dim limit = int64_t{0};
    if (s.has_input(2)) {
      if (Status t = require_length(s, 2, 1, "elements"); !t) return t;
      limit = dim_max(limit, dim_min(s.value(2, 0), s.dim(0, 1)));
    }
    for (int threshold : {3, 4}) {
      if (Status t = require_length(s, threshold, 1, "elements"); !t) return t;
    }
    Shape<Dim> y;
    y.push(at_most(s.dim(1, 0) * s.dim(1, 1) * limit));
    y.push(int64_t{3});
    return s.set_output(0, DataType::kInt64, y);
  }
};

}  // namespace ops
}  // namespace intarsia
