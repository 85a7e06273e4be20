// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that select elements by their value, or turn indices into
// a selection. How much is selected only the run knows: the extents given here are bounds.
#pragma once

#include "core/operators/movement/movement.h"

namespace intarsia {

struct OneHotAttributes {
  int32_t axis = -1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<OneHotAttributes>);

struct TopKAttributes {
  int32_t axis = -1;
  int32_t largest = 1;
  int32_t sorted = 1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("largest", largest, kFlag);
    v("sorted", sorted, kFlag);
  }
};
static_assert(is_plan_struct<TopKAttributes>);

struct CompressAttributes {
  int32_t axis = kNoAxis;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<CompressAttributes>);

struct UniqueAttributes {
  int32_t axis = kNoAxis;
  int32_t sorted = 1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("sorted", sorted, kFlag);
  }
};
static_assert(is_plan_struct<UniqueAttributes>);

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

struct OneHot {
  using Attributes = OneHotAttributes;
  static constexpr std::string_view name = "OneHot";

  /// False if `value`, read from input `input`, has to be read as a real number instead.
  template <class Dim, class S>
  static bool is_integer(const Dim& value, const S& s, int input) {
    if constexpr (has_unknown_extents<Dim>) {
      return !value.has_unknown() || !s.has_values(input) || s.real_value(input, 0) <= 0;
    } else {
      return false;
    }
  }

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0) + 1;
    int axis = 0;
    if (rank > kMaxRank) return s.fail(Code::kWrongRank, "rank", kMaxRank - 1, rank - 1, 0);
    if (Status t = normalize_axis(s, s.template attributes<Attributes>().axis, rank, axis); !t) {
      return t;
    }
    if (Status t = require_length(s, 1, 1, "elements of depth"); !t) return t;
    if (Status t = require_length(s, 2, 2, "elements of values"); !t) return t;
    Dim depth = s.value(1, 0);
    if (!is_integer(depth, s, 1)) {  // a real depth is truncated
      const double real = s.real_value(1, 0);
      depth = real >= 0 && real < static_cast<double>(kBeyondExtents) ? static_cast<int64_t>(real)
                                                                      : int64_t{-1};
    }
    if (Status t = s.require_at_least(int64_t{0}, depth, "depth", 1); !t) return t;
    Shape<Dim> y;
    for (int i = 0; i < rank; ++i) y.push(i == axis ? depth : s.dim(0, i < axis ? i : i - 1));
    return s.set_output(0, s.type(2), y);
  }
};

/// One column of indices per element that is not zero.
struct NonZero {
  static constexpr std::string_view name = "NonZero";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    Dim count = int64_t{s.rank(0) > 0 ? 1 : 0};
    for (int axis = 0; axis < s.rank(0); ++axis) count = count * s.dim(0, axis);
    Shape<Dim> y;
    y.push(int64_t{s.rank(0)});
    // A scalar has no index: [0, 1] or [0, 0], which the specification leaves at [0, N].
    y.push(at_most(s.rank(0) > 0 ? count : Dim(int64_t{1})));
    return s.set_output(0, DataType::kInt64, y);
  }
};

struct TopK {
  using Attributes = TopKAttributes;
  static constexpr std::string_view name = "TopK";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    int axis = 0;
    if (Status t = normalize_axis(s, s.template attributes<Attributes>().axis, s.rank(0), axis);
        !t) {
      return t;
    }
    if (Status t = require_length(s, 1, 1, "elements of K"); !t) return t;
    const Dim k = s.value(1, 0);
    const Dim whole = s.dim(0, axis);
    if (Status t = s.require_at_least(int64_t{0}, k, "K", 1); !t) return t;
    if (Status t = s.require_at_least(k, whole, "extent, for K", 0, axis); !t) return t;
    Shape<Dim> y = s.shape(0);
    y[axis] = is_constant(k) ? k : dim_max(Dim(int64_t{0}), dim_min(k, whole));
    if (Status t = s.set_output(0, s.type(0), y); !t) return t;
    return s.set_output(1, DataType::kInt64, y);
  }
};

struct Compress {
  using Attributes = CompressAttributes;
  static constexpr std::string_view name = "Compress";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int32_t attribute = s.template attributes<Attributes>().axis;
    if (s.rank(1) != 1) return s.fail(Code::kWrongRank, "rank of condition", 1, s.rank(1), 1);
    Shape<Dim> y;
    int axis = 0;
    if (attribute == kNoAxis) {
      Dim count = int64_t{1};
      for (int i = 0; i < s.rank(0); ++i) count = count * s.dim(0, i);
      y.push(count);
    } else {
      if (Status t = normalize_axis(s, attribute, s.rank(0), axis); !t) return t;
      y = s.shape(0);
    }
    y[axis] = at_most(dim_min(y[axis], s.dim(1, 0)));
    return s.set_output(0, s.type(0), y);
  }
};

struct Unique {
  using Attributes = UniqueAttributes;
  static constexpr std::string_view name = "Unique";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int32_t attribute = s.template attributes<Attributes>().axis;
    Shape<Dim> y;
    Dim whole = int64_t{1};
    int axis = 0;
    if (attribute == kNoAxis) {
      for (int i = 0; i < s.rank(0); ++i) whole = whole * s.dim(0, i);
      y.rank = 1;
    } else {
      if (Status t = normalize_axis(s, attribute, s.rank(0), axis); !t) return t;
      y = s.shape(0);
      whole = y[axis];
    }
    y[axis] = at_most(whole);
    if (Status t = s.set_output(0, s.type(0), y); !t) return t;
    for (int output = 1; output < s.output_count(); ++output) {
      Shape<Dim> list;
      list.push(output == 2 ? whole : y[axis]);
      if (Status t = s.set_output(output, DataType::kInt64, list); !t) return t;
    }
    return {};
  }
};

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
    Shape<Dim> y;
    y.push(at_most(s.dim(1, 0) * s.dim(1, 1) * limit));
    y.push(int64_t{3});
    return s.set_output(0, DataType::kInt64, y);
  }
};

}  // namespace ops
}  // namespace intarsia
