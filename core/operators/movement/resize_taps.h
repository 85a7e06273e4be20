// SPDX-License-Identifier: Apache-2.0
//
// The taps of one resized axis, for every device.
//
// Output index j lies at coordinate x of the input axis, as coordinate_transformation_mode says.
// Around floor(x) lie the taps of the filter: one for nearest, two for linear, four for cubic, more
// where antialiasing stretches the filter of a reduction by 1 / scale. Taps beyond the ends repeat
// the end, or count for nothing (exclude_outside). Weights are computed in double and add up to 1.
#pragma once

#include <cmath>

#include "core/operators/common/host_device.h"
#include "core/operators/movement/resize.h"
#include "core/runtime/operand_check.h"

namespace intarsia {

/// What is known of one axis; numbers as in the specification.
struct ResizeAxis {
  int64_t in = 0, out = 0;
  double scale = 1.0;
  double roi_start = 0.0, roi_end = 1.0;
  bool listed = false;  ///< False: the axis is never resized.

  bool identity(bool crop) const {
    return in == out && std::fabs(scale - 1) < 1e-9 && (!crop || (roi_start == 0 && roi_end == 1));
  }
};

/// Index of an input element (-1: the output is extrapolation_value) and its weight.
template <class V>
struct ResizeTap {
  int32_t index = 0;
  V weight{};
};

namespace ops {

/// Where output index j lies on the input axis.
INTARSIA_HOST_DEVICE inline double resize_coordinate(const ResizeAttributes& a,
                                                     const ResizeAxis& axis, int64_t j) {
  const auto x = static_cast<double>(j);
  const auto in = static_cast<double>(axis.in);
  const double out = axis.scale * in;  // may be a fraction
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  switch (a.coordinates) {
    case ResizeAttributes::kHalfPixelSymmetric:
      return in / 2 * (1 - static_cast<double>(axis.out) / out) + half_pixel;
    case ResizeAttributes::kPytorchHalfPixel:
      return out == 1 ? -0.5 : half_pixel;
    case ResizeAttributes::kAlignCorners:
      return out == 1 ? 0 : x * (in - 1) / (out - 1);
    case ResizeAttributes::kAsymmetric:
      return x / axis.scale;
    case ResizeAttributes::kTfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case ResizeAttributes::kCropAndResize: {
      const double width = (axis.roi_end - axis.roi_start) * (in - 1);
      return axis.roi_start * (in - 1) + (out == 1 ? width / 2 : x * width / (out - 1));
    }
    default:
      return half_pixel;
  }
}

/// How far antialiasing stretches the filter: 1 / scale for reductions.
INTARSIA_HOST_DEVICE inline double resize_stretch(const ResizeAttributes& a,
                                                  const ResizeAxis& axis) {
  return a.antialias != 0 && axis.scale < 1 ? 1 / axis.scale : 1;
}

/// The filter's weight at distance `x` of its centre.
INTARSIA_HOST_DEVICE inline double resize_filter(const ResizeAttributes& a, double x) {
  x = std::fabs(x);
  if (a.mode == ResizeAttributes::kLinear) return x < 1 ? 1 - x : 0;
  const double c = static_cast<double>(a.cubic_coeff_a);
  if (x <= 1) return ((c + 2) * x - (c + 3)) * x * x + 1;
  return x < 2 ? ((c * x - 5 * c) * x + 8 * c) * x - 4 * c : 0;
}

INTARSIA_HOST_DEVICE inline int64_t resize_index(double x, int64_t extent) {
  if (!(x > 0)) return 0;
  return x < static_cast<double>(extent) ? static_cast<int64_t>(x) : extent - 1;
}

/// The nearest input index of output index j. REQUIRES: axis.in > 0.
INTARSIA_HOST_DEVICE inline int64_t resize_nearest(const ResizeAttributes& a,
                                                   const ResizeAxis& axis, int64_t j) {
  const double x = resize_coordinate(a, axis, j);
  const double below = std::floor(x);
  bool up = false;
  switch (a.nearest_mode) {
    case ResizeAttributes::kPreferFloor:
      up = x - below > 0.5;
      break;
    case ResizeAttributes::kPreferCeil:
      up = x - below >= 0.5;
      break;
    case ResizeAttributes::kCeil:
      up = x > below;
      break;
    default:
      break;
  }
  return resize_index(up ? below + 1 : below, axis.in);
}

/// Taps per output index.
inline int64_t resize_taps(const ResizeAttributes& a, const ResizeAxis& axis) {
  if (a.mode == ResizeAttributes::kNearest) return 1;
  const double radius = a.mode == ResizeAttributes::kLinear ? 1 : 2;
  const double taps = 2 * std::ceil(radius * resize_stretch(a, axis));
  return taps < 0x1p40 ? static_cast<int64_t>(taps) : int64_t{1} << 40;
}

/// Fills taps[0] to taps[count - 1] of output index j, each a ResizeTap<V>. REQUIRES: axis.in > 0,
/// count is resize_taps.
template <class V, class Taps>
INTARSIA_HOST_DEVICE void fill_resize_taps(const ResizeAttributes& a, const ResizeAxis& axis,
                                           int64_t j, const Taps& taps, int64_t count) {
  const double x = resize_coordinate(a, axis, j);
  if (a.coordinates == ResizeAttributes::kCropAndResize &&
      !(x >= 0 && x <= static_cast<double>(axis.in - 1))) {
    for (int64_t t = 0; t < count; ++t) taps[t] = ResizeTap<V>{-1, V{0}};
    return;
  }
  if (a.mode == ResizeAttributes::kNearest) {
    taps[0] = ResizeTap<V>{static_cast<int32_t>(resize_nearest(a, axis, j)), V{1}};
    return;
  }
  const double factor = resize_stretch(a, axis);
  const int64_t before = count / 2 - 1;
  const double first = std::floor(x) - static_cast<double>(before);
  const auto weight = [&](int64_t t) {
    const double at = first + static_cast<double>(t);
    if (a.exclude_outside != 0 && (at < 0 || at >= static_cast<double>(axis.in))) return 0.0;
    return resize_filter(a, (at - x) / factor);
  };
  double sum = 0;
  for (int64_t t = 0; t < count; ++t) sum += weight(t);
  if (sum == 0) sum = 1;
  for (int64_t t = 0; t < count; ++t) {
    const int64_t index = resize_index(first + static_cast<double>(t), axis.in);
    taps[t] = ResizeTap<V>{static_cast<int32_t>(index), static_cast<V>(weight(t) / sum)};
  }
}

/// True if the attributes list the axis, or list none. REQUIRES: check_resize.
inline bool is_resized(const ResizeAttributes& a, int rank, int axis) {
  for (int i = 0; i < a.axes.count; ++i) {
    if (ops::Resize::axis_of(a, rank, i) == axis) return true;
  }
  return a.axes.count == 0;
}

/// Reads scales or sizes, and roi. REQUIRES: ops::Resize::infer agreed with the output.
inline void read_resize_axes(const KernelContext& context, ResizeAxis (&axes)[kMaxRank]) {
  using Rule = ops::Resize;
  const auto& a = context.attributes<ResizeAttributes>();
  const ShapeContext values(context);
  const TensorView& x = context.input(0);
  for (int axis = 0; axis < x.rank; ++axis) {
    axes[axis].in = x.extents[axis];
    axes[axis].out = context.output(0).extents[axis];
  }
  const int count = a.axes.count > 0 ? a.axes.count : x.rank;
  const bool by_scale = Rule::given(values, Rule::kScales);
  const bool common = !by_scale && a.policy != ResizeAttributes::kStretch;
  const double scale = common ? Rule::common_scale(values, a, count) : 1.0;
  const bool has_roi =
      context.input(Rule::kRoi).present() && context.input(Rule::kRoi).count() == 2 * count;
  for (int i = 0; i < count; ++i) {
    ResizeAxis& axis = axes[Rule::axis_of(a, x.rank, i)];
    axis.listed = true;
    if (by_scale) {
      axis.scale = values.real_value(Rule::kScales, i);
    } else if (common) {
      axis.scale = scale;
    } else if (axis.in > 0) {
      axis.scale = static_cast<double>(axis.out) / static_cast<double>(axis.in);
    }
    if (has_roi) {
      axis.roi_start = values.real_value(Rule::kRoi, i);
      axis.roi_end = values.real_value(Rule::kRoi, count + i);
    }
  }
}

/// Most taps that all axes together can have, for every node with extents up to these.
inline CheckedInt resize_taps_bound(const KernelContext& context) {
  const auto& a = context.attributes<ResizeAttributes>();
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  const int64_t radius = a.mode == ResizeAttributes::kLinear ? 1 : 2;
  CheckedInt sum = 0;
  for (int axis = 0; axis < x.rank; ++axis) {
    if (!is_resized(a, x.rank, axis)) continue;
    const int64_t in = x.extents[axis], out = y.extents[axis];
    if (a.mode == ResizeAttributes::kNearest) {
      sum += out;
    } else if (a.antialias == 0) {
      sum += 2 * radius * out;
    } else {
      // 2 * ceil(radius / scale) taps for each of `out` indices, where scale > (out - 1/2) / in.
      sum += 4 * radius * (in + out) + 64;
    }
  }
  return sum;
}

/// What `check` of all Resize kernels has in common; `type` is that of X and Y.
inline Status check_resize(const KernelContext& context, KernelType type) {
  if (Status s = check_operand_types<ops::Resize>(
          context,
          {.inputs = {type, kAnyReal, DataType::kFloat, DataType::kInt64}, .outputs = {type}});
      !s) {
    return s;
  }
  const auto& a = context.attributes<ResizeAttributes>();
  const struct {
    int32_t value, highest;
    const char* what;
  } choices[] = {
      {a.mode, ResizeAttributes::kCubic, "mode"},
      {a.coordinates, ResizeAttributes::kTfHalfPixelForNn, "coordinate_transformation_mode"},
      {a.nearest_mode, ResizeAttributes::kCeil, "nearest_mode"},
      {a.policy, ResizeAttributes::kNotSmaller, "keep_aspect_ratio_policy"}};
  for (const auto& choice : choices) {
    if (choice.value < 0 || choice.value > choice.highest) {
      return context.fail(Code::kInvalidValue, choice.what, choice.highest, choice.value);
    }
  }
  const int rank = context.input(0).rank;
  if (context.output(0).rank != rank) {
    return context.fail(Code::kWrongRank, "output rank", rank, context.output(0).rank,
                        context.input_count());
  }
  if (!a.axes.valid()) return context.fail(Code::kInvalidValue, "axes", kMaxRank, a.axes.count);
  for (int i = 0; i < a.axes.count; ++i) {
    if (ops::Resize::axis_of(a, rank, i) >= 0) continue;
    return context.fail(Code::kIndexOutOfRange, "axis out of range", rank, a.axes[i], 0);
  }
  return {};
}

}  // namespace ops
}  // namespace intarsia
