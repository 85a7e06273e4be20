// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that write at positions given by a tensor of indices.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/indexing/index_extents.h"

namespace intarsia {

/// What a scattered update does to the element that it meets.
enum class ScatterReduction : int32_t { kNone = 0, kAdd = 1, kMul = 2, kMax = 3, kMin = 4 };

struct ScatterNDAttributes {
  int32_t reduction = 0;
  template <class V>
  void fields(V& v) {
    v.choice("reduction", reduction, {"none", "add", "mul", "max", "min"});
  }
};
static_assert(is_plan_struct<ScatterNDAttributes>);

struct ScatterElementsAttributes {
  int32_t reduction = 0;
  int32_t axis = 0;
  template <class V>
  void fields(V& v) {
    v.choice("reduction", reduction, {"none", "add", "mul", "max", "min"});
    v("axis", axis);
  }
};
static_assert(is_plan_struct<ScatterElementsAttributes>);

namespace ops {

struct ScatterElements {
  using Attributes = ScatterElementsAttributes;
  static constexpr std::string_view name = "ScatterElements";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<Attributes>();
    int axis = 0;
    if (Status t = normalize_axis(s, a.axis, s.rank(0), axis); !t) return t;
    if (a.reduction < 0 || a.reduction > 4) {
      return s.fail(Code::kInvalidValue, "reduction", 4, a.reduction);
    }
    if (Status t = require_indices_within(s, axis); !t) return t;
    if (s.rank(2) != s.rank(1)) {
      return s.fail(Code::kWrongRank, "rank of updates", s.rank(1), s.rank(2), 2);
    }
    for (int i = 0; i < s.rank(1); ++i) {
      Status t = s.require_equal(s.dim(1, i), s.dim(2, i), "extent of updates", 2, i);
      if (!t) return t;
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

struct ScatterND {
  using Attributes = ScatterNDAttributes;
  static constexpr std::string_view name = "ScatterND";
  template <class S>
  static Status infer(S& s) {
    const int32_t reduction = s.template attributes<Attributes>().reduction;
    if (reduction < 0 || reduction > 4) {
      return s.fail(Code::kInvalidValue, "reduction", 4, reduction);
    }
    int tuple = 0;
    if (Status t = index_tuple(s, 0, tuple); !t) return t;
    const int lead = s.rank(1) - 1;
    if (s.rank(2) != lead + s.rank(0) - tuple) {
      return s.fail(Code::kWrongRank, "rank of updates", lead + s.rank(0) - tuple, s.rank(2), 2);
    }
    for (int i = 0; i < s.rank(2); ++i) {
      const auto expected = i < lead ? s.dim(1, i) : s.dim(0, tuple + i - lead);
      Status t = s.require_equal(expected, s.dim(2, i), "extent of updates", 2, i);
      if (!t) return t;
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
