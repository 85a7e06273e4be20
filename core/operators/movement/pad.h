// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of Pad.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct PadAttributes {
  enum Mode : int32_t { kConstant = 0, kReflect = 1, kEdge = 2, kWrap = 3 };
  int32_t mode = kConstant;
  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"constant", "reflect", "edge", "wrap"});
  }
};
static_assert(is_plan_struct<PadAttributes>);

namespace ops {

struct Pad {
  using Attributes = PadAttributes;
  static constexpr std::string_view name = "Pad";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0);
    const int32_t mode = s.template attributes<Attributes>().mode;
    const int64_t count = s.has_input(3) ? s.value_count(3) : rank;
    int axes[kMaxRank] = {};
    bool known = true;
    if (mode < 0 || mode > 3) return s.fail(Code::kInvalidValue, "mode", 3, mode);
    if (Status t = read_axes(s, 3, count, rank, axes, known); !t) return t;
    if (Status t = require_length(s, 1, 2 * count, "elements of pads"); !t) return t;
    Shape<Dim> y = s.shape(0);
    for (int i = 0; !known && i < rank; ++i) y[i] = any_extent<Dim>();
    for (int i = 0; known && i < count; ++i) {
      const Dim pads[2] = {s.value(1, i), s.value(1, count + i)};
      for (const Dim& pad : pads) {
        if (is_constant(pad) &&
            (constant_value(pad) > kBeyondExtents || constant_value(pad) < -kBeyondExtents)) {
          return s.fail(Code::kInvalidValue, "pad", 0, constant_value(pad), 1, axes[i]);
        }
        y[axes[i]] = y[axes[i]] + pad;
      }
      if (Status t = s.require_at_least(int64_t{0}, y[axes[i]], "extent", 0, axes[i]); !t) return t;
    }
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace ops
}  // namespace intarsia
