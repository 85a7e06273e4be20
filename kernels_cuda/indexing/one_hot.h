// SPDX-License-Identifier: Apache-2.0
//
// OneHot: values[1] where the coordinate along the new axis is the index, values[0] elsewhere; an
// index outside [-depth, depth) selects nothing. Values of any type of a width, indices in int32,
// int64 or float, which is truncated. The depth is the output's extent, and not read.
// Specification: https://onnx.ai/onnx/operators/onnx__OneHot.html
#pragma once

#include "core/operators/indexing/one_hot.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

/// Whether device code reads indices of this type.
constexpr bool reads_indices(DataType type) {
  return type == DataType::kInt32 || type == DataType::kInt64 || type == DataType::kFloat;
}
Status check_one_hot(const KernelContext& context, ElementWidth width);

template <ElementWidth W>
struct OneHot : DeviceKernel {
  static constexpr KernelId id{"OneHot", kVariant, {W}};
  static bool supports(const KernelContext& context) {
    return reads_indices(context.input(0).type);
  }
  static Status check(const KernelContext& context) { return check_one_hot(context, W); }
  static Status run(const KernelContext& context);
};

using OneHotKernels = OfWidths<OneHot>;

}  // namespace intarsia::cuda
