// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of OneHot.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct OneHotAttributes {
  int32_t axis = -1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<OneHotAttributes>);

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

}  // namespace ops
}  // namespace intarsia
