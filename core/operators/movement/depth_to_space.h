// SPDX-License-Identifier: Apache-2.0
//
// Attributes, shape rule and order of elements of DepthToSpace and SpaceToDepth.
#pragma once

#include <initializer_list>

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"
#include "intarsia/tensor.h"

namespace intarsia {

/// DepthToSpace, SpaceToDepth.
struct BlockAttributes {
  enum Mode : int32_t { kDcr = 0, kCrd = 1 };
  int32_t blocksize = 0;
  int32_t mode = kDcr;
  int32_t channels_last = 0;
  template <class V>
  void fields(V& v) {
    v.required("blocksize", blocksize, at_least(1));
    v.choice("mode", mode, {"DCR", "CRD"});
    v.internal("channels_last", channels_last);
  }
};
static_assert(is_plan_struct<BlockAttributes>);

/// An axis of the copy that both operators are: steps in the wide tensor [N, C, H * b, W * b] and
/// in the deep one [N, b * b * C, H, W], or in those with the channels last.
struct BlockAxis {
  int64_t extent, wide, deep;
};
/// All of them, in the order of the output.
struct BlockAxes {
  BlockAxis axes[6];

  /// `widen`: the output is the wide tensor.
  BlockAxes(const BlockAttributes& a, const TensorView& wide, const TensorView& deep, bool widen) {
    const bool last = a.channels_last != 0, dcr = a.mode == BlockAttributes::kDcr;
    const int height = last ? 1 : 2;
    const int64_t b = a.blocksize, n = wide.extents[0], c = wide.extents[last ? 3 : 1];
    const int64_t h = deep.extents[height], w = deep.extents[height + 1];
    const int64_t plane = h * w, channels = c * b * b;
    // From pixel to pixel and from channel to channel.
    const int64_t pixel = last ? c : 1, deep_pixel = last ? channels : 1;
    const int64_t channel = last ? 1 : plane * b * b, deep_channel = last ? 1 : plane;
    const int64_t block = dcr ? deep_channel * c : deep_channel;  // a column further in the block
    const BlockAxis axis_n{n, plane * b * b * c, plane * channels};
    const BlockAxis axis_c{c, channel, dcr ? deep_channel : deep_channel * b * b};
    const BlockAxis axis_h{h, b * w * b * pixel, w * deep_pixel},
        axis_i{b, w * b * pixel, block * b};
    const BlockAxis axis_w{w, b * pixel, deep_pixel}, axis_j{b, pixel, block};
    BlockAxis* to = axes;
    const auto add = [&](std::initializer_list<BlockAxis> some) {
      for (const BlockAxis& axis : some) *to++ = axis;
    };
    add({axis_n});
    if (widen) {
      if (!last) add({axis_c});
      add({axis_h, axis_i, axis_w, axis_j});
      if (last) add({axis_c});
      return;
    }
    if (last) add({axis_h, axis_w});
    if (!dcr) add({axis_c});
    add({axis_i, axis_j});
    if (dcr) add({axis_c});
    if (!last) add({axis_h, axis_w});
  }
};

namespace ops {

/// DepthToSpace (`kInwards` false) and SpaceToDepth. The input is N, C, H, W or, with
/// `channels_last`, N, H, W, C.
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
    const int channels = a.channels_last != 0 ? 3 : 1;
    for (int axis = 1; axis < 4; ++axis) {
      const Dim factor = axis == channels ? block * block : block;
      const bool divide = (axis == channels) != kInwards;
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
