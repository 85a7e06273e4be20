// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that read at positions given by a tensor of indices.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/indexing/index_extents.h"

namespace intarsia {

struct GatherNDAttributes {
  int32_t batch_dims = 0;
  template <class V>
  void fields(V& v) {
    v("batch_dims", batch_dims, at_least(0));
  }
};
static_assert(is_plan_struct<GatherNDAttributes>);

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

}  // namespace ops
}  // namespace intarsia
