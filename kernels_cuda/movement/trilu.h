// SPDX-License-Identifier: Apache-2.0
//
// Trilu: the upper (columns >= row + k) or lower (columns <= row + k) triangle of each matrix in
// the last two axes, 0 elsewhere; 0 is all bits 0 in every type of a width.
// Specification: https://onnx.ai/onnx/operators/onnx__Trilu.html
#pragma once

#include "core/operators/movement/trilu.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

template <ElementWidth W>
struct Trilu : DeviceKernel {
  static constexpr KernelId id{"Trilu", kVariant, {W}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Trilu>(context, {.inputs = {W, DataType::kInt64}, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

using TriluKernels = OfWidths<Trilu>;

}  // namespace intarsia::cuda
