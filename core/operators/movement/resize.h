// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of Resize, and the extents and scales that rule and kernels agree on.
//
// The operator is given scales or sizes, for all axes or for those that `axes` lists. Output
// extents are floor(extent * scale), computed in float as ONNX's shape inference does, or the
// sizes.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct ResizeAttributes {
  enum Mode : int32_t { kNearest = 0, kLinear = 1, kCubic = 2 };
  enum Coordinates : int32_t {
    kHalfPixel = 0,
    kHalfPixelSymmetric = 1,
    kPytorchHalfPixel = 2,
    kAlignCorners = 3,
    kAsymmetric = 4,
    kCropAndResize = 5,
    kTfHalfPixelForNn = 6,
  };
  enum Rounding : int32_t { kPreferFloor = 0, kPreferCeil = 1, kFloor = 2, kCeil = 3 };
  enum Policy : int32_t { kStretch = 0, kNotLarger = 1, kNotSmaller = 2 };

  int32_t mode = kNearest;
  int32_t coordinates = kHalfPixel;
  int32_t nearest_mode = kPreferFloor;
  int32_t policy = kStretch;
  int32_t antialias = 0;
  int32_t exclude_outside = 0;
  float cubic_coeff_a = -0.75f;
  float extrapolation_value = 0.0f;
  IntList axes;

  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"nearest", "linear", "cubic"});
    v.choice("coordinate_transformation_mode", coordinates,
             {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
              "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"});
    v.choice("nearest_mode", nearest_mode,
             {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
    v.choice("keep_aspect_ratio_policy", policy, {"stretch", "not_larger", "not_smaller"});
    v("antialias", antialias, kFlag);
    v("exclude_outside", exclude_outside, kFlag);
    v("cubic_coeff_a", cubic_coeff_a);
    v("extrapolation_value", extrapolation_value);
    v("axes", axes);
  }
};
static_assert(is_plan_struct<ResizeAttributes>);

struct AffineGridAttributes {
  int32_t align_corners = 0;
  template <class V>
  void fields(V& v) {
    v("align_corners", align_corners, kFlag);
  }
};
static_assert(is_plan_struct<AffineGridAttributes>);

namespace ops {

struct Resize {
  using Attributes = ResizeAttributes;
  static constexpr std::string_view name = "Resize";
  static constexpr int kRoi = 1, kScales = 2, kSizes = 3;

  /// The axis that element `i` of scales and sizes is for; -1 if there is none.
  static int axis_of(const Attributes& a, int rank, int i) {
    if (a.axes.count == 0) return i < rank ? i : -1;
    const int axis = a.axes[i] < 0 ? a.axes[i] + rank : a.axes[i];
    return axis >= 0 && axis < rank ? axis : -1;
  }

  /// Without numbers in it, an input counts as absent (older models give empty tensors).
  template <class S>
  static bool given(const S& s, int input) {
    return s.has_input(input) && s.value_count(input) != 0;
  }

  /// The scale that all axes get so that none is larger (smaller) than its size.
  /// REQUIRES: policy is not kStretch; extents and sizes are numbers.
  template <class S>
  static double common_scale(const S& s, const Attributes& a, int count) {
    double scale = 0.0;
    for (int i = 0; i < count; ++i) {
      const auto extent = static_cast<double>(constant_value(s.dim(0, axis_of(a, s.rank(0), i))));
      const auto size = static_cast<double>(constant_value(s.value(kSizes, i)));
      const double ratio = extent > 0 ? size / extent : 0.0;
      const bool better = a.policy == Attributes::kNotLarger ? ratio < scale : ratio > scale;
      if (i == 0 || better) scale = ratio;
    }
    return scale;
  }

  /// floor(extent * scale).
  template <class S>
  static Status scaled(const S& s, const typename S::Dim& extent, double scale, int axis,
                       typename S::Dim& result) {
    using Dim = typename S::Dim;
    if (!(scale > 0.0) || scale > static_cast<double>(kBeyondExtents)) {
      return s.fail(Code::kInvalidValue, "scale", 1, 0, kScales, axis);
    }
    if (is_constant(extent)) {
      const float product = static_cast<float>(constant_value(extent)) * static_cast<float>(scale);
      if (product > 0x1p30f) {
        return s.fail(Code::kWrongExtent, "extent times scale", 1 << 30,
                      static_cast<int64_t>(product), 0, axis);
      }
      result = static_cast<int64_t>(product);
      return {};
    }
    // A scale in units of 1/1024 is a fraction that expressions divide by exactly. The product with
    // another scale may be rounded up.
    int64_t numerator = static_cast<int64_t>(scale * 1024.0), denominator = 1024;
    const bool exact = static_cast<double>(numerator) == scale * 1024.0;
    while (numerator % 2 == 0 && denominator > 1) numerator /= 2, denominator /= 2;
    result = floor_div(extent * Dim(exact ? numerator : numerator + 1), Dim(denominator));
    if (!exact) result = at_most(result);
    return {};
  }

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const Attributes& a = s.template attributes<Attributes>();
    const int rank = s.rank(0);
    if (!a.axes.valid()) return s.fail(Code::kInvalidValue, "axes", kMaxRank, a.axes.count);
    const int count = a.axes.count > 0 ? a.axes.count : rank;
    bool seen[kMaxRank] = {};
    for (int i = 0; i < count; ++i) {
      const int axis = axis_of(a, rank, i);
      if (axis < 0 || seen[axis]) return s.fail(Code::kInvalidValue, "axes", rank, axis);
      seen[axis] = true;
    }
    const bool by_scale = given(s, kScales);
    if (by_scale == given(s, kSizes)) {
      return s.fail(Code::kInvalidValue, "one of scales and sizes", 1, by_scale ? 2 : 0, kScales);
    }
    const int input = by_scale ? kScales : kSizes;
    if (Status t = require_length(s, input, count, "elements of scales or sizes"); !t) return t;
    Shape<Dim> y = s.shape(0);
    bool numbers = true;
    for (int i = 0; i < count; ++i) {
      const int axis = axis_of(a, rank, i);
      if (by_scale) {
        if (has_unknown_extents<Dim> && !(s.has_values(kScales) && s.real_value(kScales, i) != 0)) {
          y[axis] = any_extent<Dim>();  // a scale that only the run knows
          continue;
        }
        Status t = scaled(s, s.dim(0, axis), s.real_value(kScales, i), axis, y[axis]);
        if (!t) return t;
        continue;
      }
      y[axis] = s.value(kSizes, i);
      if (Status t = s.require_at_least(int64_t{0}, y[axis], "size", kSizes, axis); !t) return t;
      numbers = numbers && is_constant(y[axis]) && is_constant(s.dim(0, axis));
    }
    if (!by_scale && a.policy != Attributes::kStretch) {
      const double scale = numbers ? common_scale(s, a, count) : 0.0;
      for (int i = 0; i < count; ++i) {
        const int axis = axis_of(a, rank, i);
        if (numbers) {
          const double extent = static_cast<double>(constant_value(s.dim(0, axis))) * scale + 0.5;
          y[axis] = extent < 0x1p30 ? static_cast<int64_t>(extent) : kBeyondExtents;
        } else {
          y[axis] = a.policy == Attributes::kNotLarger ? at_most(y[axis]) : any_extent<Dim>();
        }
      }
    }
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace ops
}  // namespace intarsia
