// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of DeformConv: a convolution of images [N, C, H, W] each tap of which
// lies at a place of its own for every element of the result.
#pragma once

#include "core/operators/nn/conv.h"

namespace intarsia {

struct DeformConvAttributes {
  WindowAttributes window;  ///< DeformConv has no auto_pad.
  int32_t group = 1;
  int32_t offset_group = 1;

  template <class V>
  void fields(V& v) {
    v("kernel_shape", window.kernel_shape, at_least(1));
    v("strides", window.strides, at_least(1));
    v("dilations", window.dilations, at_least(1));
    v("pads", window.pads, at_least(0));
    v("group", group, at_least(1));
    v("offset_group", offset_group, at_least(1));
  }
};
static_assert(is_plan_struct<DeformConvAttributes>);

namespace ops {

/// X, W [filters, C / group, kernel...], the offsets [N, 2 * offset_group * taps, result...] along
/// both axes, the bias, factors [N, offset_group * taps, result...].
struct DeformConv {
  using Attributes = DeformConvAttributes;
  static constexpr std::string_view name = "DeformConv";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const auto& a = s.template attributes<DeformConvAttributes>();
    constexpr int kSpatial = 2;
    if (s.rank(0) != 2 + kSpatial) {
      return s.fail(Code::kWrongRank, "rank of an image with two spatial axes", 2 + kSpatial,
                    s.rank(0), 0);
    }
    if (Status t = a.window.validate(s, kSpatial, false); !t) return t;
    const ImageAxes axes{s.rank(0), false};
    if (Status t = require_weights(s, a.window, a.group, axes); !t) return t;
    if (a.offset_group < 1) return s.fail(Code::kInvalidValue, "offset_group", 1, a.offset_group);
    const Dim filters = s.dim(1, 0), channels = s.dim(0, 1);
    const Dim group = int64_t{a.group}, offset_group = int64_t{a.offset_group};
    Status t = s.require_equal(s.dim(1, 1) * group, channels, "input channels", 0, 1);
    if (!t) return t;
    if (t = require_multiple(s, filters, a.group, "output channels per group", 1, 0); !t) return t;
    t = require_multiple(s, channels, a.offset_group, "channels per group of offsets", 0, 1);
    if (!t) return t;
    if (t = require_bias(s, filters, 3); !t) return t;

    Shape<Dim> y = s.shape(0);
    y[1] = filters;
    for (int i = 0; i < kSpatial; ++i) {
      t = infer_window_extent(s, a.window, i, kSpatial, s.dim(0, 2 + i), s.dim(1, 2 + i), false,
                              y[2 + i]);
      if (!t) return t;
    }
    const Dim taps = s.dim(1, 2) * s.dim(1, 3) * offset_group;
    if (t = require_planes(s, 2, taps * Dim(int64_t{2}), y, "offsets"); !t) return t;
    if (s.has_input(4)) {
      if (t = require_planes(s, 4, taps, y, "factors of the mask"); !t) return t;
    }
    return s.set_output(0, s.type(0), y);
  }

 private:
  template <class S>
  static Status require_multiple(const S& s, const typename S::Dim& extent, int64_t divisor,
                                 const char* what, int operand, int axis) {
    if (!is_constant(extent) || constant_value(extent) % divisor == 0) return {};
    return s.fail(Code::kWrongExtent, what, divisor, constant_value(extent), operand, axis);
  }
  /// Requires `planes` planes of the result's extents for each image.
  template <class S>
  static Status require_planes(S& s, int input, const typename S::Dim& planes,
                               const Shape<typename S::Dim>& y, const char* what) {
    if (s.rank(input) != y.rank) {
      return s.fail(Code::kWrongRank, "rank", y.rank, s.rank(input), input);
    }
    for (int axis = 0; axis < y.rank; ++axis) {
      const typename S::Dim wanted = axis == 1 ? planes : y[axis];
      if (Status t = s.require_equal(wanted, s.dim(input, axis), what, input, axis); !t) return t;
    }
    return {};
  }
};

}  // namespace ops
}  // namespace intarsia
