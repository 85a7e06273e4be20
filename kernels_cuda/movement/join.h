// SPDX-License-Identifier: Apache-2.0
//
// Concat and Split: rows of one tensor are made of the rows of several, or cut into them. Elements
// of any type of a width. Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/movement/concat_split.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

template <ElementWidth W>
struct Concat : DeviceKernel {
  static constexpr KernelId id{"Concat", kVariant, {W}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Concat>(context,
                                       {.inputs = {W}, .outputs = {W}, .variadic_inputs = true});
  }
  static Status run(const KernelContext& context);
};

/// Proves that the outputs are parts of the input, one behind the other. Where input `split` says
/// how large they are, it is not read: the extents of the outputs tell, none of which is left out.
Status check_split(const KernelContext& context, ElementWidth width);
bool supports_split(const KernelContext& context);

template <ElementWidth W>
struct Split : DeviceKernel {
  static constexpr KernelId id{"Split", kVariant, {W}};
  static bool supports(const KernelContext& context) { return supports_split(context); }
  static Status check(const KernelContext& context) { return check_split(context, W); }
  static Status run(const KernelContext& context);
};

using JoinKernels = Join<OfWidths<Concat>, OfWidths<Split>>;

}  // namespace intarsia::cuda
