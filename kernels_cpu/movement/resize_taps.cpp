// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/movement/resize_taps.h"
#include "core/runtime/operand_check.h"

#include <cmath>

namespace intarsia::cpu {
namespace {

using A = ResizeAttributes;

double coordinate(const A& a, const ResizeAxis& axis, int64_t j) {
  const auto x = static_cast<double>(j);
  const auto in = static_cast<double>(axis.in);
  const double out = axis.scale * in;  // may be a fraction
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  switch (a.coordinates) {
    case A::kHalfPixelSymmetric:
      return in / 2 * (1 - static_cast<double>(axis.out) / out) + half_pixel;
    case A::kPytorchHalfPixel:
      return out == 1 ? -0.5 : half_pixel;
    case A::kAlignCorners:
      return out == 1 ? 0 : x * (in - 1) / (out - 1);
    case A::kAsymmetric:
      return x / axis.scale;
    case A::kTfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case A::kCropAndResize: {
      const double width = (axis.roi_end - axis.roi_start) * (in - 1);
      return axis.roi_start * (in - 1) + (out == 1 ? width / 2 : x * width / (out - 1));
    }
    default:
      return half_pixel;
  }
}

/// How far antialiasing stretches the filter: 1 / scale for reductions.
double stretch(const A& a, const ResizeAxis& axis) {
  return a.antialias != 0 && axis.scale < 1 ? 1 / axis.scale : 1;
}

/// The filter's weight at distance `x` of its centre.
double filter(const A& a, double x) {
  x = std::fabs(x);
  if (a.mode == A::kLinear) return x < 1 ? 1 - x : 0;
  const double c = static_cast<double>(a.cubic_coeff_a);
  if (x <= 1) return ((c + 2) * x - (c + 3)) * x * x + 1;
  return x < 2 ? ((c * x - 5 * c) * x + 8 * c) * x - 4 * c : 0;
}

int64_t clamp_index(double x, int64_t extent) {
  if (!(x > 0)) return 0;
  return x < static_cast<double>(extent) ? static_cast<int64_t>(x) : extent - 1;
}

template <class V>
void fill_taps(const A& a, const ResizeAxis& axis, int64_t j, Tap<V>* taps, int64_t count) {
  const double x = coordinate(a, axis, j);
  if (a.coordinates == A::kCropAndResize && !(x >= 0 && x <= static_cast<double>(axis.in - 1))) {
    for (int64_t t = 0; t < count; ++t) taps[t] = {-1, V{0}};
    return;
  }
  if (a.mode == A::kNearest) {
    taps[0] = {static_cast<int32_t>(resize_nearest(a, axis, j)), V{1}};
    return;
  }
  const double factor = stretch(a, axis);
  const int64_t before = count / 2 - 1;
  const double first = std::floor(x) - static_cast<double>(before);
  const auto weight = [&](int64_t t) {
    const double at = first + static_cast<double>(t);
    if (a.exclude_outside != 0 && (at < 0 || at >= static_cast<double>(axis.in))) return 0.0;
    return filter(a, (at - x) / factor);
  };
  double sum = 0;
  for (int64_t t = 0; t < count; ++t) sum += weight(t);
  if (sum == 0) sum = 1;
  for (int64_t t = 0; t < count; ++t) {
    const int64_t index = clamp_index(first + static_cast<double>(t), axis.in);
    taps[t] = {static_cast<int32_t>(index), static_cast<V>(weight(t) / sum)};
  }
}

}  // namespace

bool ResizeAxis::identity(bool crop) const {
  return in == out && std::fabs(scale - 1) < 1e-9 && (!crop || (roi_start == 0 && roi_end == 1));
}

void read_resize_axes(const KernelContext& context, ResizeAxis (&axes)[kMaxRank]) {
  using Rule = ops::Resize;
  const auto& a = context.attributes<A>();
  const ShapeContext values(context);
  const TensorView& x = context.input(0);
  for (int axis = 0; axis < x.rank; ++axis) {
    axes[axis].in = x.extents[axis];
    axes[axis].out = context.output(0).extents[axis];
  }
  const int count = a.axes.count > 0 ? a.axes.count : x.rank;
  const bool by_scale = Rule::given(values, Rule::kScales);
  const bool common = !by_scale && a.policy != A::kStretch;
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

int64_t resize_taps(const A& a, const ResizeAxis& axis) {
  if (a.mode == A::kNearest) return 1;
  const double radius = a.mode == A::kLinear ? 1 : 2;
  const double taps = 2 * std::ceil(radius * stretch(a, axis));
  return taps < 0x1p40 ? static_cast<int64_t>(taps) : int64_t{1} << 40;
}

bool is_resized(const A& a, int rank, int axis) {
  for (int i = 0; i < a.axes.count; ++i) {
    if (ops::Resize::axis_of(a, rank, i) == axis) return true;
  }
  return a.axes.count == 0;
}

CheckedInt resize_taps_bound(const KernelContext& context) {
  const auto& a = context.attributes<A>();
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  const int64_t radius = a.mode == A::kLinear ? 1 : 2;
  CheckedInt sum = 0;
  for (int axis = 0; axis < x.rank; ++axis) {
    if (!is_resized(a, x.rank, axis)) continue;
    const int64_t in = x.extents[axis], out = y.extents[axis];
    if (a.mode == A::kNearest) {
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

Status check_resize(const KernelContext& context, KernelType type) {
  if (Status s = check_operand_types<ops::Resize>(
          context,
          {.inputs = {type, kAnyReal, DataType::kFloat, DataType::kInt64}, .outputs = {type}});
      !s) {
    return s;
  }
  const auto& a = context.attributes<A>();
  const struct {
    int32_t value, highest;
    const char* what;
  } choices[] = {{a.mode, A::kCubic, "mode"},
                 {a.coordinates, A::kTfHalfPixelForNn, "coordinate_transformation_mode"},
                 {a.nearest_mode, A::kCeil, "nearest_mode"},
                 {a.policy, A::kNotSmaller, "keep_aspect_ratio_policy"}};
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

int64_t resize_nearest(const A& a, const ResizeAxis& axis, int64_t j) {
  const double x = coordinate(a, axis, j);
  const double below = std::floor(x);
  bool up = false;
  switch (a.nearest_mode) {
    case A::kPreferFloor:
      up = x - below > 0.5;
      break;
    case A::kPreferCeil:
      up = x - below >= 0.5;
      break;
    case A::kCeil:
      up = x > below;
      break;
    default:
      break;
  }
  return clamp_index(up ? below + 1 : below, axis.in);
}

void resize_taps_of(const A& a, const ResizeAxis& axis, int64_t j, Tap<double>* taps,
                    int64_t count) {
  fill_taps(a, axis, j, taps, count);
}
void resize_taps_of(const A& a, const ResizeAxis& axis, int64_t j, Tap<float>* taps,
                    int64_t count) {
  fill_taps(a, axis, j, taps, count);
}

}  // namespace intarsia::cpu
