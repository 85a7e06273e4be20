// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows: the attributes that convolution and pooling share, the extent of their output,
// and the padding that auto_pad stands for.
//
//     out = floor((in + pads - (dilation * (kernel - 1) + 1)) / stride) + 1      NOTSET, VALID
//     out = ceil(in / stride)                                                     SAME_*
//
// One definition serves the shape functions, the checks and the kernels of every such operator.
// What `validate` and `infer_window_extent` let pass keeps every position of a tap, in front of, in
// and behind the image, far inside 64 bits: kernels add and multiply extents, strides and dilations
// of one axis as plain integers. Products with other axes they take of positions inside the image.
#pragma once

#include <cstdint>
#include <limits>

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

/// Most spatial axes that a window may have: all axes but batch and channel.
inline constexpr int kMaxSpatial = kMaxRank - 2;

/// Most elements from the first to the last tap of a window. Beyond any input with its padding: a
/// window that does not fit in there gives no output.
inline constexpr int64_t kMaxReach = int64_t{1} << 33;

/// A run of taps along one axis.
struct TapRun {
  int64_t first = 0, end = 0;
  constexpr int64_t count() const { return end > first ? end - first : 0; }
};
/// Those of `kernel` taps that lie in [low, high), if the first one lies at `start`. What a plan
/// has in the padding may be any number of taps, so nothing walks them; a window that lies inside
/// needs no division. constexpr makes it a function of CUDA devices, too.
constexpr TapRun taps_between(int64_t kernel, int64_t dilation, int64_t start, int64_t low,
                              int64_t high) {
  TapRun taps{0, kernel};
  if (start < low) taps.first = (low - start + dilation - 1) / dilation;
  if (start + (kernel - 1) * dilation >= high) {
    taps.end = start < high ? (high - 1 - start) / dilation + 1 : 0;
  }
  return taps;
}

/// Numbering of `auto_pad`.
enum class AutoPad : int32_t { kNotset = 0, kSameUpper = 1, kSameLower = 2, kValid = 3 };

struct WindowAttributes {
  int32_t auto_pad = 0;
  FixedList<int32_t, kMaxSpatial> kernel_shape;
  FixedList<int32_t, kMaxSpatial> strides;
  FixedList<int32_t, kMaxSpatial> dilations;
  FixedList<int32_t, 2 * kMaxSpatial> pads;

  template <class V>
  void fields(V& v) {
    v.choice("auto_pad", auto_pad, {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
    v("kernel_shape", kernel_shape, at_least(1));
    v("strides", strides, at_least(1));
    v("dilations", dilations, at_least(1));
    v("pads", pads, at_least(0));
  }

  // An empty list stands for the specification's default along every axis.
  AutoPad padding() const { return static_cast<AutoPad>(auto_pad); }
  bool same() const { return auto_pad == 1 || auto_pad == 2; }
  int64_t stride(int axis) const { return strides.count > 0 ? strides[axis] : 1; }
  int64_t dilation(int axis) const { return dilations.count > 0 ? dilations[axis] : 1; }
  int64_t explicit_pad(int index) const {
    return padding() == AutoPad::kNotset && pads.count > 0 ? pads[index] : 0;
  }
  /// Elements from the first to the last tap of a window with `kernel` taps.
  int64_t reach(int axis, int64_t kernel) const { return dilation(axis) * (kernel - 1) + 1; }

  /// Padding in front of axis `axis` for windows over `in` elements that give `out` results.
  int64_t pad_before(int axis, int64_t in, int64_t out, int64_t kernel) const {
    if (!same()) return explicit_pad(axis);
    const int64_t total = same_total(axis, in, out, kernel);
    return padding() == AutoPad::kSameUpper ? total / 2 : total - total / 2;
  }
  int64_t pad_after(int axis, int spatial, int64_t in, int64_t out, int64_t kernel) const {
    if (!same()) return explicit_pad(spatial + axis);
    return same_total(axis, in, out, kernel) - pad_before(axis, in, out, kernel);
  }

  /// Reports attributes that no window over `spatial` axes can have. `Context` is a shape or kernel
  /// context.
  template <class Context>
  Status validate(const Context& c, int spatial, bool kernel_required) const {
    if (spatial < 1 || spatial > kMaxSpatial) {
      return c.fail(Code::kWrongRank, "spatial axes of a window", kMaxSpatial, spatial, 0);
    }
    if (auto_pad < 0 || auto_pad > 3) return c.fail(Code::kInvalidValue, "auto_pad", 3, auto_pad);
    const auto counted = [](int32_t count, int32_t full, bool required) {
      return count == full || (count == 0 && !required);
    };
    if (!counted(kernel_shape.count, spatial, kernel_required)) {
      return c.fail(Code::kInvalidValue, "length of kernel_shape", spatial, kernel_shape.count);
    }
    if (!counted(strides.count, spatial, false)) {
      return c.fail(Code::kInvalidValue, "length of strides", spatial, strides.count);
    }
    if (!counted(dilations.count, spatial, false)) {
      return c.fail(Code::kInvalidValue, "length of dilations", spatial, dilations.count);
    }
    if (!counted(pads.count, 2 * spatial, false)) {
      return c.fail(Code::kInvalidValue, "length of pads", 2 * spatial, pads.count);
    }
    int64_t taps = 1;
    for (int axis = 0; axis < spatial; ++axis) {
      if (stride(axis) < 1) return c.fail(Code::kInvalidValue, "stride", 1, stride(axis), -1, axis);
      if (dilation(axis) < 1) {
        return c.fail(Code::kInvalidValue, "dilation", 1, dilation(axis), -1, axis);
      }
      for (const int64_t pad : {explicit_pad(axis), explicit_pad(spatial + axis)}) {
        if (pad < 0) return c.fail(Code::kInvalidValue, "padding", 0, pad, -1, axis);
      }
      if (kernel_shape.count == 0) continue;
      taps *= kernel_shape[axis];
      if (kernel_shape[axis] < 1 || taps > std::numeric_limits<int32_t>::max()) {
        return c.fail(Code::kInvalidValue, "kernel_shape", 1, kernel_shape[axis], -1, axis);
      }
    }
    return {};
  }

 private:
  int64_t same_total(int axis, int64_t in, int64_t out, int64_t kernel) const {
    const int64_t total = (out - 1) * stride(axis) + reach(axis, kernel) - in;
    return total > 0 ? total : 0;
  }
};
static_assert(is_plan_struct<WindowAttributes>);

/// Requires at least one tap along spatial axis `axis`, and a dilated window of at most kMaxReach.
template <class S>
Status require_reach(S& s, const WindowAttributes& window, int axis,
                     const typename S::Dim& kernel) {
  using Dim = typename S::Dim;
  const Dim one = int64_t{1};
  if (Status status = s.require_at_least(one, kernel, "kernel extent", -1, axis); !status) {
    return status;
  }
  const Dim reach = Dim(window.dilation(axis)) * (kernel - one) + one;
  if (!is_constant(reach) || constant_value(reach) <= kMaxReach) return {};
  return s.fail(Code::kInvalidValue, "reach of the dilated window", kMaxReach,
                constant_value(reach), -1, axis);
}

/// Extent of the output along spatial axis `axis`. With `ceil_mode` a last, partial window counts
/// if it starts inside the input or the padding in front of it.
template <class S>
Status infer_window_extent(S& s, const WindowAttributes& window, int axis, int spatial,
                           const typename S::Dim& in, const typename S::Dim& kernel, bool ceil_mode,
                           typename S::Dim& out) {
  using Dim = typename S::Dim;
  const Dim one = int64_t{1};
  const Dim stride = window.stride(axis);
  if (Status status = require_reach(s, window, axis, kernel); !status) return status;
  if (window.same()) {
    out = ceil_div(in, stride);
    return {};
  }
  const Dim before = window.explicit_pad(axis);
  const Dim after = window.explicit_pad(spatial + axis);
  const Dim dilation = window.dilation(axis);
  const Dim slack = in + before + after - dilation * (kernel - one) - one;
  out = ceil_mode ? dim_min(ceil_div(slack, stride) + one, ceil_div(in + before, stride))
                  : floor_div(slack, stride) + one;
  // An empty input gives an empty output; a window larger than a non-empty input is an error.
  const Dim least = is_constant(in) && constant_value(in) == 0 ? int64_t{0} : int64_t{1};
  return s.require_at_least(least, out, "output extent of the window", 0, axis);
}

}  // namespace intarsia
