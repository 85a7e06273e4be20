// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of ReverseSequence.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct ReverseSequenceAttributes {
  int32_t batch_axis = 1;
  int32_t time_axis = 0;
  template <class V>
  void fields(V& v) {
    v("batch_axis", batch_axis, between(0, 1));
    v("time_axis", time_axis, between(0, 1));
  }
};
static_assert(is_plan_struct<ReverseSequenceAttributes>);

namespace ops {

struct ReverseSequence {
  using Attributes = ReverseSequenceAttributes;
  static constexpr std::string_view name = "ReverseSequence";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<Attributes>();
    if (s.rank(0) < 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    if (s.rank(1) != 1) return s.fail(Code::kWrongRank, "rank", 1, s.rank(1), 1);
    if (a.time_axis < 0 || a.time_axis > 1) {
      return s.fail(Code::kInvalidValue, "time_axis", 1, a.time_axis);
    }
    if (a.batch_axis != 1 - a.time_axis) {
      return s.fail(Code::kInvalidValue, "batch_axis, next to time_axis", 1 - a.time_axis,
                    a.batch_axis);
    }
    Status t = s.require_equal(s.dim(0, a.batch_axis), s.dim(1, 0), "sequence_lens", 1, 0);
    return t ? s.set_output(0, s.type(0), s.shape(0)) : t;
  }
};

}  // namespace ops
}  // namespace intarsia
