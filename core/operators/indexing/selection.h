// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that select elements by their value. How much is selected
// only the run knows: the extents given here are bounds.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

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

namespace ops {

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

}  // namespace ops
}  // namespace intarsia
