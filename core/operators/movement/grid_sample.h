// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of GridSample: [N, C, D1, ...] at the points [N, E1, ..., axes] of a
// grid gives [N, C, E1, ...].
#pragma once

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct GridSampleAttributes {
  enum Mode : int32_t { kLinear = 0, kNearest = 1, kCubic = 2 };
  enum Padding : int32_t { kZeros = 0, kBorder = 1, kReflection = 2 };
  int32_t mode = kLinear;
  int32_t padding_mode = kZeros;
  int32_t align_corners = 0;

  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"linear", "nearest", "cubic"});
    v.choice("padding_mode", padding_mode, {"zeros", "border", "reflection"});
    v("align_corners", align_corners, kFlag);
  }
};
static_assert(is_plan_struct<GridSampleAttributes>);

namespace ops {

struct GridSample {
  using Attributes = GridSampleAttributes;
  static constexpr std::string_view name = "GridSample";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const auto& a = s.template attributes<GridSampleAttributes>();
    const DataType type = s.type(0);
    const bool real = type == DataType::kFloat || type == DataType::kDouble ||
                      type == DataType::kFloat16 || type == DataType::kBfloat16;
    if (!real && a.mode != GridSampleAttributes::kNearest) {
      return s.fail(Code::kUnsupported, "mode but 'nearest' for elements that are no floats",
                    GridSampleAttributes::kNearest, a.mode, 0);
    }
    const int rank = s.rank(0);
    if (rank < 3) return s.fail(Code::kWrongRank, "rank", 3, rank, 0);
    if (s.rank(1) != rank) return s.fail(Code::kWrongRank, "rank of grid", rank, s.rank(1), 1);
    const Dim axes = int64_t{rank - 2};
    if (Status t = s.require_equal(s.dim(0, 0), s.dim(1, 0), "batch of grid", 1, 0); !t) return t;
    Status t = s.require_equal(axes, s.dim(1, rank - 1), "coordinates of a point", 1, rank - 1);
    if (!t) return t;
    Shape<Dim> y = s.shape(0);
    for (int axis = 2; axis < rank; ++axis) y[axis] = s.dim(1, axis - 1);
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace ops
}  // namespace intarsia
