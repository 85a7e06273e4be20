// SPDX-License-Identifier: Apache-2.0
//
// Resize along up to kMostResized axes, in any layout: by the nearest element, of any type of a
// width; and in all modes in float and float16, which computes in float. Scales, sizes and roi are
// constants. Specification: https://onnx.ai/onnx/operators/onnx__Resize.html
#pragma once

#include "core/operators/movement/resize_taps.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

inline constexpr int kMostResized = 3;

using DeviceTap = ResizeTap<float>;

/// Bytes of the taps of all axes.
inline int64_t resize_workspace(const KernelContext& context) {
  return ((ops::resize_taps_bound(context) + kMostResized) * int64_t{sizeof(DeviceTap)}).value();
}
/// Whether device code serves a node that the rule allows: axes and lists.
bool supports_resize(const KernelContext& context);
/// The nearest element alone: no coordinate lies outside.
bool is_nearest(const KernelContext& context);
Status check_nearest(const KernelContext& context, ElementWidth width);

/// `run` sees how far the workspace goes.
template <ElementWidth W>
struct ResizeNearest : DeviceKernel {
  static constexpr KernelId id{"Resize", "cuda nearest", {W}};
  static bool supports(const KernelContext& context) {
    return is_nearest(context) && supports_resize(context);
  }
  static Status check(const KernelContext& context) { return check_nearest(context, W); }
  static int64_t workspace(const KernelContext& context) { return resize_workspace(context); }
  static Status run(const KernelContext& context);
};

template <class T>
struct Resize : DeviceKernel {
  static constexpr KernelId id{"Resize", kVariant, {data_type_of<T>}};
  static bool supports(const KernelContext& context) { return supports_resize(context); }
  static Status check(const KernelContext& context) {
    return ops::check_resize(context, data_type_of<T>);
  }
  static int64_t workspace(const KernelContext& context) { return resize_workspace(context); }
  static Status run(const KernelContext& context);
};

using ResizeKernels = Join<OfWidths<ResizeNearest>, Each<Resize, Types<float, Float16>>>;

}  // namespace intarsia::cuda
