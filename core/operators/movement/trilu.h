// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of Trilu.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct TriluAttributes {
  int32_t upper = 1;
  template <class V>
  void fields(V& v) {
    v("upper", upper, kFlag);
  }
};
static_assert(is_plan_struct<TriluAttributes>);

namespace ops {

struct Trilu {
  using Attributes = TriluAttributes;
  static constexpr std::string_view name = "Trilu";
  template <class S>
  static Status infer(S& s) {
    if (s.rank(0) < 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    if (Status t = require_length(s, 1, 1, "elements of k"); !t) return t;
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
