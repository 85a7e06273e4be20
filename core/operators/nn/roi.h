// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of RoiAlign and MaxRoiPool: regions of an image [N, C, H, W], each
// divided into bins, give [regions, C, bins along H, bins along W].
#pragma once

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct RoiAlignAttributes {
  enum Mode : int32_t { kAverage = 0, kMax = 1 };
  enum Coordinates : int32_t { kHalfPixel = 0, kOutputHalfPixel = 1 };
  /// The most points along an axis of a bin: what a plan may ask for is walked.
  static constexpr int64_t kMostSamples = 1024;

  int32_t mode = kAverage;
  int32_t coordinates = kHalfPixel;
  int32_t output_height = 1;
  int32_t output_width = 1;
  int32_t sampling_ratio = 0;  ///< Points along each axis of a bin; 0: one for each element of it.
  float spatial_scale = 1;

  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"avg", "max"});
    v.choice("coordinate_transformation_mode", coordinates, {"half_pixel", "output_half_pixel"});
    v("output_height", output_height, at_least(1));
    v("output_width", output_width, at_least(1));
    v("sampling_ratio", sampling_ratio, at_least(0));
    v("spatial_scale", spatial_scale);
  }
};
static_assert(is_plan_struct<RoiAlignAttributes>);

struct MaxRoiPoolAttributes {
  FixedList<int32_t, 2> pooled_shape;
  float spatial_scale = 1;

  template <class V>
  void fields(V& v) {
    v.required("pooled_shape", pooled_shape, at_least(1));
    v("spatial_scale", spatial_scale);
  }
};
static_assert(is_plan_struct<MaxRoiPoolAttributes>);

namespace ops {

/// An image of two spatial axes, `numbers` numbers for each region, and so many bins of each.
template <class S>
Status infer_regions(S& s, int64_t numbers, int64_t height, int64_t width) {
  if (s.rank(0) != 4) {
    return s.fail(Code::kWrongRank, "rank of an image with two spatial axes", 4, s.rank(0), 0);
  }
  if (s.rank(1) != 2) return s.fail(Code::kWrongRank, "rank of the regions", 2, s.rank(1), 1);
  if (Status t = s.require_equal(numbers, s.dim(1, 1), "numbers of a region", 1, 1); !t) return t;
  for (const int64_t bins : {height, width}) {
    if (bins < 1) return s.fail(Code::kInvalidValue, "bins of a region along an axis", 1, bins);
  }
  Shape<typename S::Dim> y;
  y.push(s.dim(1, 0));
  y.push(s.dim(0, 1));
  y.push(height);
  y.push(width);
  return s.set_output(0, s.type(0), y);
}

struct RoiAlign {
  using Attributes = RoiAlignAttributes;
  static constexpr std::string_view name = "RoiAlign";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<RoiAlignAttributes>();
    if (a.sampling_ratio < 0 || a.sampling_ratio > a.kMostSamples) {
      return s.fail(Code::kInvalidValue, "sampling_ratio", a.kMostSamples, a.sampling_ratio);
    }
    if (s.rank(2) != 1) return s.fail(Code::kWrongRank, "rank", 1, s.rank(2), 2);
    if (Status t = s.require_equal(s.dim(1, 0), s.dim(2, 0), "number of regions", 2, 0); !t) {
      return t;
    }
    return infer_regions(s, 4, a.output_height, a.output_width);
  }
};

struct MaxRoiPool {
  using Attributes = MaxRoiPoolAttributes;
  static constexpr std::string_view name = "MaxRoiPool";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<MaxRoiPoolAttributes>();
    if (a.pooled_shape.count != 2) {
      return s.fail(Code::kInvalidValue, "length of pooled_shape", 2, a.pooled_shape.count);
    }
    return infer_regions(s, 5, a.pooled_shape[0], a.pooled_shape[1]);
  }
};

}  // namespace ops
}  // namespace intarsia
