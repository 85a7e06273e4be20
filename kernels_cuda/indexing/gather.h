// SPDX-License-Identifier: Apache-2.0
//
// Operators that read at indices (int32 or int64, type I; negative ones count from the back):
//   Gather           y[o, j..., i] = x[o, indices[j...], i]           along one axis
//   GatherElements   y[p] = x[p with the coordinate of the axis replaced by indices[p]]
//   GatherND         y[b, j..., i...] = x[b, indices[b, j..., :], i...]
// Elements of any type of a width. An index out of range fails the run (common/report.h); what
// stands at its place is undefined. Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/indexing/gather.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

template <ElementWidth W, class I>
struct Gather : DeviceKernel {
  static constexpr KernelId id{"Gather", kVariant, {W, data_type_of<I>}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Gather>(
        context, {.inputs = {W, data_type_of<I>}, .required_inputs = 2, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

template <ElementWidth W, class I>
struct GatherElements : DeviceKernel {
  static constexpr KernelId id{"GatherElements", kVariant, {W, data_type_of<I>}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::GatherElements>(
        context, {.inputs = {W, data_type_of<I>}, .required_inputs = 2, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

/// Indices are int64.
template <ElementWidth W>
struct GatherND : DeviceKernel {
  static constexpr KernelId id{"GatherND", kVariant, {W}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::GatherND>(
        context, {.inputs = {W, DataType::kInt64}, .required_inputs = 2, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

using GatherKernels =
    Join<OfWidthsAndIndices<Gather>, OfWidthsAndIndices<GatherElements>, OfWidths<GatherND>>;

}  // namespace intarsia::cuda
