// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that read or write at positions given by a tensor of
// indices. That the indices lie in range is for the kernels to check.
#pragma once

#include "core/operators/movement/movement.h"

namespace intarsia {

struct GatherNDAttributes {
  int32_t batch_dims = 0;
  template <class V>
  void fields(V& v) {
    v("batch_dims", batch_dims, at_least(0));
  }
};
static_assert(is_plan_struct<GatherNDAttributes>);

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

/// The axis of `data` is replaced by the axes of `indices`.
struct Gather {
  using Attributes = AxisAttributes;
  static constexpr std::string_view name = "Gather";
  template <class S>
  static Status infer(S& s) {
    int axis = 0;
    const int rank = s.rank(0);
    if (Status t = normalize_axis(s, s.template attributes<Attributes>().axis, rank, axis); !t) {
      return t;
    }
    if (rank - 1 + s.rank(1) > kMaxRank) {
      return s.fail(Code::kWrongRank, "rank of the output", kMaxRank, rank - 1 + s.rank(1));
    }
    Shape<typename S::Dim> y;
    for (int i = 0; i < axis; ++i) y.push(s.dim(0, i));
    for (int i = 0; i < s.rank(1); ++i) y.push(s.dim(1, i));
    for (int i = axis + 1; i < rank; ++i) y.push(s.dim(0, i));
    return s.set_output(0, s.type(0), y);
  }
};

/// `indices` has the rank of `data` and, but for the axis, extents no larger.
template <class S>
Status require_indices_within(const S& s, int axis) {
  if (s.rank(1) != s.rank(0)) {
    return s.fail(Code::kWrongRank, "rank of indices", s.rank(0), s.rank(1), 1);
  }
  for (int i = 0; i < s.rank(0); ++i) {
    if (i == axis) continue;
    if (Status t = s.require_at_least(s.dim(1, i), s.dim(0, i), "extent, for indices", 0, i); !t) {
      return t;
    }
  }
  return {};
}

struct GatherElements {
  using Attributes = AxisAttributes;
  static constexpr std::string_view name = "GatherElements";
  template <class S>
  static Status infer(S& s) {
    int axis = 0;
    if (Status t = normalize_axis(s, s.template attributes<Attributes>().axis, s.rank(0), axis);
        !t) {
      return t;
    }
    if (Status t = require_indices_within(s, axis); !t) return t;
    return s.set_output(0, s.type(0), s.shape(1));
  }
};

/// Number of axes that one tuple of indices (input 1, last axis) names.
template <class S>
Status index_tuple(const S& s, int batch, int& tuple) {
  const int rank = s.rank(1);
  if (rank < 1) return s.fail(Code::kWrongRank, "rank of indices", 1, rank, 1);
  const typename S::Dim last = s.dim(1, rank - 1);
  if (!is_constant(last)) {
    return s.fail(Code::kUnsupported, "last extent of indices that varies", 0, 0, 1, rank - 1);
  }
  if (constant_value(last) < 0 || constant_value(last) > s.rank(0) - batch) {
    return s.fail(Code::kWrongExtent, "last extent of indices", s.rank(0) - batch,
                  constant_value(last), 1, rank - 1);
  }
  tuple = static_cast<int>(constant_value(last));
  return {};
}

struct GatherND {
  using Attributes = GatherNDAttributes;
  static constexpr std::string_view name = "GatherND";
  template <class S>
  static Status infer(S& s) {
    const int32_t batch = s.template attributes<Attributes>().batch_dims;
    const int least = s.rank(0) < s.rank(1) ? s.rank(0) : s.rank(1);
    if (batch < 0 || batch >= least) {
      return s.fail(Code::kInvalidValue, "batch_dims", least - 1, batch);
    }
    int tuple = 0;
    if (Status t = index_tuple(s, batch, tuple); !t) return t;
    for (int i = 0; i < batch; ++i) {
      if (Status t = s.require_equal(s.dim(0, i), s.dim(1, i), "extent", 1, i); !t) return t;
    }
    if (s.rank(1) - 1 + s.rank(0) - batch - tuple > kMaxRank) {
      return s.fail(Code::kWrongRank, "rank of the output", kMaxRank,
                    s.rank(1) - 1 + s.rank(0) - batch - tuple);
    }
    Shape<typename S::Dim> y;
    for (int i = 0; i < s.rank(1) - 1; ++i) y.push(s.dim(1, i));
    for (int i = batch + tuple; i < s.rank(0); ++i) y.push(s.dim(0, i));
    return s.set_output(0, s.type(0), y);
  }
};

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
