// SPDX-License-Identifier: Apache-2.0
//
// Resize by nearest, linear and cubic interpolation, along any number of axes.
//
// Each resized axis has a table of taps: for an output index the input indices that contribute and
// their weights (resize_taps.h). An output row is the weighted sum of the input rows that the outer
// axes' taps name, kept in a scratch row, and then interpolated along the innermost resized axis.
//     ResizeNearest<Width>   moves elements; all modes of coordinates but tf_crop_and_resize
//     Resize<T>              everything; computes in float, in double for double and integers;
//                            integer results are rounded to nearest even and saturate
// Rows are spread over the caller's threads. https://onnx.ai/onnx/operators/onnx__Resize.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct ResizeNearest {
  static constexpr KernelId id{"Resize", "nearest", {kernel_type_of<T>}};
  static bool supports(const KernelContext& context);
  static Status check(const KernelContext& context);
  static int64_t workspace(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct Resize {
  static constexpr KernelId id{"Resize", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static int64_t workspace(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
