// SPDX-License-Identifier: Apache-2.0
//
// Operators that read at indices (int32 or int64, type I; negative ones count from the back):
//   Gather           y[o, j..., i] = x[o, indices[j...], i]           along one axis
//   GatherElements   y[p] = x[p with the coordinate of the axis replaced by indices[p]]
//   GatherND         y[b, j..., i...] = x[b, indices[b, j..., :], i...]
// An index out of range is reported before anything is written. T is a Width; runs are copied as
// bytes, on the caller's threads. https://onnx.ai/onnx/operators/onnx__Gather.html and following
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T, class I>
struct Gather {
  static constexpr KernelId id{"Gather", "", {kernel_type_of<T>, kernel_type_of<I>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T, class I>
struct GatherElements {
  static constexpr KernelId id{"GatherElements", "", {kernel_type_of<T>, kernel_type_of<I>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// Indices are int64.
template <class T>
struct GatherND {
  static constexpr KernelId id{"GatherND", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
