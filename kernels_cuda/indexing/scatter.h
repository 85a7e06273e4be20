// SPDX-License-Identifier: Apache-2.0
//
// Operators that write at indices, without a reduction; the rest of the output is the input's:
//   ScatterElements   y[p with the coordinate of the axis replaced by indices[p]] = updates[p]
//   ScatterND         y[indices[j..., :], i...] = updates[j..., i...]
// Elements of any type of a width. Of two updates of one place the last one counts, as on the CPU:
// an update is left out if one behind it goes to the same place. So updates that may meet are
// kMostUpdates at most; nodes with more stay on the CPU. An index out of range fails the run
// (common/report.h). Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/indexing/scatter.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

inline constexpr int64_t kMostUpdates = 1024;

/// Whether device code serves a node that the rule allows, and the updates that may meet.
bool supports_scatter_elements(const KernelContext& context);
bool supports_scatter_nd(const KernelContext& context);
Status check_scatter_elements(const KernelContext& context, ElementWidth width, DataType index);
Status check_scatter_nd(const KernelContext& context, ElementWidth width);

template <ElementWidth W, class I>
struct ScatterElements : DeviceKernel {
  static constexpr KernelId id{"ScatterElements", kVariant, {W, data_type_of<I>}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context) { return supports_scatter_elements(context); }
  static Status check(const KernelContext& context) {
    return check_scatter_elements(context, W, data_type_of<I>);
  }
  static Status run(const KernelContext& context);
};

/// Indices are int64.
template <ElementWidth W>
struct ScatterND : DeviceKernel {
  static constexpr KernelId id{"ScatterND", kVariant, {W}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context) { return supports_scatter_nd(context); }
  static Status check(const KernelContext& context) { return check_scatter_nd(context, W); }
  static Status run(const KernelContext& context);
};

using ScatterKernels = Join<OfWidthsAndIndices<ScatterElements>, OfWidths<ScatterND>>;

}  // namespace intarsia::cuda
