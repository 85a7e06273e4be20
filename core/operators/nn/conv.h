// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of Conv and ConvTranspose.
//
// X and Y are N, C, spatial... or, with `channels_last`, N, spatial..., C. Weights keep ONNX's
// order: Conv M, C / group, kernel...; ConvTranspose C, M / group, kernel....
#pragma once

#include <span>

#include "core/operators/common/fused_activation.h"
#include "core/operators/nn/window.h"

namespace intarsia {

/// Y = activation(conv(X, W) + B + Z); Z is a residual that the converter fuses.
struct ConvAttributes {
  WindowAttributes window;
  int32_t group = 1;
  int32_t channels_last = 0;
  int32_t activation = 0;  // Activation
  float activation_alpha = 0;
  float activation_beta = 0;

  template <class V>
  void fields(V& v) {
    window.fields(v);
    v("group", group, at_least(1));
    v.internal("channels_last", channels_last);
    v.internal("activation", activation);
    v.internal("activation_alpha", activation_alpha);
    v.internal("activation_beta", activation_beta);
  }
};
static_assert(is_plan_struct<ConvAttributes>);

/// Of ConvInteger.
struct IntegerConvAttributes {
  WindowAttributes window;
  int32_t group = 1;
  int32_t channels_last = 0;

  template <class V>
  void fields(V& v) {
    window.fields(v);
    v("group", group, at_least(1));
    v.internal("channels_last", channels_last);
  }
};
static_assert(is_plan_struct<IntegerConvAttributes>);

struct ConvTransposeAttributes {
  WindowAttributes window;
  FixedList<int32_t, kMaxSpatial> output_padding;
  FixedList<int32_t, kMaxSpatial> output_shape;
  int32_t group = 1;
  int32_t channels_last = 0;

  template <class V>
  void fields(V& v) {
    window.fields(v);
    v("output_padding", output_padding, at_least(0));
    v("output_shape", output_shape, at_least(0));
    v("group", group, at_least(1));
    v.internal("channels_last", channels_last);
  }

  int64_t extra(int axis) const { return output_padding.count > 0 ? output_padding[axis] : 0; }
  /// Rows that the scattered windows span before padding is cut off.
  int64_t span(int axis, int64_t in, int64_t kernel) const {
    return window.stride(axis) * (in - 1) + extra(axis) + window.reach(axis, kernel);
  }
  /// Rows cut off in front. Unless it is given, the total follows from the output's extent; the
  /// specification puts the odd row in front except for SAME_UPPER.
  int64_t pad_before(int axis, int64_t in, int64_t out, int64_t kernel) const {
    if (output_shape.count == 0 && !window.same()) return window.explicit_pad(axis);
    const int64_t total = span(axis, in, kernel) - out;
    const int64_t cut = total > 0 ? total : 0;
    return window.padding() == AutoPad::kSameUpper ? cut / 2 : cut - cut / 2;
  }
};
static_assert(is_plan_struct<ConvTransposeAttributes>);

/// Where the axes of a tensor of images lie.
struct ImageAxes {
  int rank;
  bool channels_last;
  int spatial() const { return rank - 2; }
  int channel() const { return channels_last ? rank - 1 : 1; }
  int axis(int i) const { return channels_last ? 1 + i : 2 + i; }
};

/// Requires an image of batch, channel and 1 to kMaxSpatial spatial axes.
template <class S>
Status require_image(const S& s, int input) {
  const int rank = s.rank(input);
  return rank >= 3 && rank <= kMaxRank
             ? Status()
             : s.fail(Code::kWrongRank, "rank of batch, channel and spatial axes", 3, rank, input);
}

namespace ops {

/// Requires weights of the image's rank whose spatial extents agree with kernel_shape, if given.
template <class S>
Status require_weights(S& s, const WindowAttributes& window, int32_t group, ImageAxes axes) {
  if (s.rank(1) != axes.rank) {
    return s.fail(Code::kWrongRank, "rank of the weights", axes.rank, s.rank(1), 1);
  }
  if (group < 1) return s.fail(Code::kInvalidValue, "group", 1, group);
  for (int i = 0; i < window.kernel_shape.count; ++i) {
    const typename S::Dim kernel = int64_t{window.kernel_shape[i]};
    const Status status =
        s.require_equal(kernel, s.dim(1, 2 + i), "kernel extent of the weights", 1, 2 + i);
    if (!status) return status;
  }
  return {};
}

template <class S>
Status require_bias(S& s, const typename S::Dim& channels, int bias = 2) {
  if (!s.has_input(bias)) return {};
  if (s.rank(bias) != 1) return s.fail(Code::kWrongRank, "rank of the bias", 1, s.rank(bias), bias);
  return s.require_equal(channels, s.dim(bias, 0), "output channels of the bias", bias, 0);
}

/// The extents of the convolution of input 0 with the weights, input 1, by attributes A.
template <class S, class A>
Status infer_convolution(S& s, const A& a, Shape<typename S::Dim>& y) {
  using Dim = typename S::Dim;
  if (Status status = require_image(s, 0); !status) return status;
  const ImageAxes axes{s.rank(0), a.channels_last != 0};
  if (Status status = a.window.validate(s, axes.spatial(), false); !status) return status;
  if (Status status = require_weights(s, a.window, a.group, axes); !status) return status;

  const Dim group = int64_t{a.group};
  const Dim filters = s.dim(1, 0);
  if (Status status = s.require_equal(s.dim(1, 1) * group, s.dim(0, axes.channel()),
                                      "input channels", 0, axes.channel());
      !status) {
    return status;
  }
  if (is_constant(filters) && constant_value(filters) % a.group != 0) {
    return s.fail(Code::kWrongExtent, "output channels per group", a.group, constant_value(filters),
                  1, 0);
  }
  y = s.shape(0);
  y[axes.channel()] = filters;
  for (int i = 0; i < axes.spatial(); ++i) {
    const Dim in = s.dim(0, axes.axis(i));
    const Dim kernel = s.dim(1, 2 + i);
    Status status =
        infer_window_extent(s, a.window, i, axes.spatial(), in, kernel, false, y[axes.axis(i)]);
    if (!status) return status;
  }
  return {};
}

struct Conv {
  using Attributes = ConvAttributes;
  static constexpr std::string_view name = "Conv";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<ConvAttributes>();
    if (Status status = validate_activation(s, a); !status) return status;
    Shape<typename S::Dim> y;
    if (Status status = infer_convolution(s, a, y); !status) return status;
    if (Status status = require_bias(s, s.dim(1, 0)); !status) return status;
    if (s.has_input(3)) {
      if (s.rank(3) != y.rank) {
        return s.fail(Code::kWrongRank, "rank of the residual", y.rank, s.rank(3), 3);
      }
      for (int axis = 0; axis < y.rank; ++axis) {
        Status status = s.require_equal(y[axis], s.dim(3, axis), "extent of the residual", 3, axis);
        if (!status) return status;
      }
    }
    return s.set_output(0, s.type(0), y);
  }
};

/// Fails unless an input, if it is there, is one number, or with `each` one for each filter.
template <class S>
Status require_of_filters(S& s, int input, bool each, const char* rank, const char* number) {
  if (!s.has_input(input) || s.rank(input) == 0) return {};
  if (s.rank(input) != 1) return s.fail(Code::kWrongRank, rank, 1, s.rank(input), input);
  const auto count = s.dim(input, 0);
  if (is_constant(count) && constant_value(count) == 1) return {};
  const typename S::Dim one = int64_t{1};
  return s.require_equal(each ? s.dim(1, 0) : one, count, number, input, 0);
}

/// The extents of a convolution of bytes without their zero points: input `zeros` is that of the
/// image, the next one that of the weights, one for all or one for each filter.
template <class S>
Status infer_integer_convolution(S& s, int zeros, Shape<typename S::Dim>& y) {
  if (Status t = infer_convolution(s, s.template attributes<IntegerConvAttributes>(), y); !t) {
    return t;
  }
  constexpr const char *kRank = "rank of a zero point", *kNumber = "number of zero points";
  if (Status t = require_of_filters(s, zeros, false, kRank, kNumber); !t) return t;
  return require_of_filters(s, zeros + 1, true, kRank, kNumber);
}

struct ConvInteger {
  using Attributes = IntegerConvAttributes;
  static constexpr std::string_view name = "ConvInteger";
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> y;
    if (Status status = infer_integer_convolution(s, 2, y); !status) return status;
    return s.set_output(0, DataType::kInt32, y);
  }
};

/// ConvInteger and Requantize in one: scale (input 2) and bias (input 6) are one number or one for
/// each filter; the zero point (input 3) is one, of the result's type. Inputs 4 and 5 are those of
/// image and weights.
struct ConvRequantize {
  using Attributes = IntegerConvAttributes;
  static constexpr std::string_view name = "ConvRequantize";
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> y;
    if (Status status = infer_integer_convolution(s, 4, y); !status) return status;
    for (int input : {2, 6}) {
      Status status =
          require_of_filters(s, input, true, "rank of scale or bias", "extent of scale or bias");
      if (!status) return status;
    }
    Status status = require_of_filters(s, 3, false, "rank of zero point", "number of zero points");
    if (!status) return status;
    return s.set_output(0, s.type(3), y);
  }
};

/// Whether a transposed convolution with weights C,M/group,kernel... has so few filters that panels
/// of them would be mostly empty, and what its taps add to the outputs is much of the work. Of
/// groups of one channel there is no product.
inline bool few_transposed_filters(const ConvTransposeAttributes& attributes,
                                   std::span<const int64_t> weights) {
  constexpr int64_t kFew = 4, kNotMany = 12, kMostRows = 768;
  int64_t taps = 1;
  for (size_t axis = 2; axis < weights.size(); ++axis) {
    taps *= weights[axis];
    if (taps > kMostRows) taps = kMostRows + 1;  // no product of three extents overflows
  }
  const bool few = weights[1] <= kFew || (weights[1] <= kNotMany && weights[1] * taps <= kMostRows);
  return taps > 1 && few && weights[0] > attributes.group;
}

struct ConvTranspose {
  using Attributes = ConvTransposeAttributes;
  static constexpr std::string_view name = "ConvTranspose";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const auto& a = s.template attributes<ConvTransposeAttributes>();
    if (Status status = require_image(s, 0); !status) return status;
    const ImageAxes axes{s.rank(0), a.channels_last != 0};
    if (Status status = a.window.validate(s, axes.spatial(), false); !status) return status;
    if (Status status = validate_lists(s, a, axes.spatial()); !status) return status;
    if (Status status = require_weights(s, a.window, a.group, axes); !status) return status;

    if (Status status = s.require_equal(s.dim(1, 0), s.dim(0, axes.channel()), "input channels", 0,
                                        axes.channel());
        !status) {
      return status;
    }
    const Dim inputs = s.dim(1, 0);
    if (is_constant(inputs) && constant_value(inputs) % a.group != 0) {
      return s.fail(Code::kWrongExtent, "input channels per group", a.group, constant_value(inputs),
                    1, 0);
    }
    const Dim group = int64_t{a.group};
    const Dim filters = s.dim(1, 1) * group;
    if (Status status = require_bias(s, filters); !status) return status;

    Shape<Dim> y = s.shape(0);
    y[axes.channel()] = filters;
    const Dim one = int64_t{1};
    for (int i = 0; i < axes.spatial(); ++i) {
      const Dim in = s.dim(0, axes.axis(i));
      const Dim kernel = s.dim(1, 2 + i);
      const Dim stride = a.window.stride(i);
      const Dim dilation = a.window.dilation(i);
      const Dim extra = a.extra(i);
      const Dim cut = a.window.explicit_pad(i) + a.window.explicit_pad(axes.spatial() + i);
      if (Status status = require_reach(s, a.window, i, kernel); !status) return status;
      Dim& out = y[axes.axis(i)];
      if (a.output_shape.count > 0) {
        out = int64_t{a.output_shape[i]};
      } else if (a.window.same()) {
        out = in * stride;
      } else {
        out = stride * (in - one) + extra + dilation * (kernel - one) + one - cut;
      }
      const Dim least = is_constant(in) && constant_value(in) == 0 ? int64_t{0} : int64_t{1};
      Status status = s.require_at_least(least, out, "output extent of the window", 0, i);
      if (!status) return status;
    }
    return s.set_output(0, s.type(0), y);
  }

  template <class Context>
  static Status validate_lists(const Context& c, const ConvTransposeAttributes& a, int spatial) {
    if (a.output_padding.count != 0 && a.output_padding.count != spatial) {
      return c.fail(Code::kInvalidValue, "length of output_padding", spatial,
                    a.output_padding.count);
    }
    if (a.output_shape.count != 0 && a.output_shape.count != spatial) {
      return c.fail(Code::kInvalidValue, "length of output_shape", spatial, a.output_shape.count);
    }
    for (int i = 0; i < spatial; ++i) {
      if (a.extra(i) < 0)
        return c.fail(Code::kInvalidValue, "output_padding", 0, a.extra(i), -1, i);
    }
    return {};
  }
};

}  // namespace ops
}  // namespace intarsia
