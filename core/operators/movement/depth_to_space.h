// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of DepthToSpace and SpaceToDepth.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

/// DepthToSpace, SpaceToDepth.
struct BlockAttributes {
  enum Mode : int32_t { kDcr = 0, kCrd = 1 };
  int32_t blocksize = 0;
  int32_t mode = kDcr;
  template <class V>
  void fields(V& v) {
    v.required("blocksize", blocksize, at_least(1));
    v.choice("mode", mode, {"DCR", "CRD"});
  }
};
static_assert(is_plan_struct<BlockAttributes>);

namespace ops {

/// DepthToSpace (`kInwards` false) and SpaceToDepth. The input is N, C, H, W.
template <bool kInwards>
struct BlockRule {
  using Attributes = BlockAttributes;
  static constexpr std::string_view name = kInwards ? "SpaceToDepth" : "DepthToSpace";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const BlockAttributes& a = s.template attributes<Attributes>();
    if (s.rank(0) != 4) return s.fail(Code::kWrongRank, "rank", 4, s.rank(0), 0);
    if (a.blocksize < 1 || a.blocksize > (1 << 15)) {
      return s.fail(Code::kInvalidValue, "blocksize", 1, a.blocksize);
    }
    if (a.mode < 0 || a.mode > 1) return s.fail(Code::kInvalidValue, "mode", 1, a.mode);
    const Dim block = int64_t{a.blocksize};
    Shape<Dim> y = s.shape(0);
    for (int axis = 1; axis < 4; ++axis) {
      const Dim factor = axis == 1 ? block * block : block;
      const bool divide = (axis == 1) != kInwards;
      const Dim x = s.dim(0, axis);
      y[axis] = divide ? floor_div(x, factor) : x * factor;
      if (!divide) continue;
      Status t = s.require_equal(x, y[axis] * factor, "extent that blocksize divides", 0, axis);
      if (!t) return t;
    }
    return s.set_output(0, s.type(0), y);
  }
};
using DepthToSpace = BlockRule<false>;
using SpaceToDepth = BlockRule<true>;

}  // namespace ops
}  // namespace intarsia
