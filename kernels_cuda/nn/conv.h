// SPDX-License-Identifier: Apache-2.0
//
// Convolution in float with an epilogue, Y = activation(conv(X, W) + B + Z), ONNX Conv with 1 or 2
// spatial axes, groups, any padding, strides and dilations, both layouts, as an implicit product:
// rows are output positions, columns filters, the depth runs over kernel rows, columns and input
// channels. `ConvPacked` has its constant weights as [group][depth][filter], so that neighbouring
// threads read neighbouring filters. The residual Z may be the same memory as Y.
#pragma once

#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

struct Conv : DeviceKernel {
  static constexpr KernelId id{"Conv", kVariant, {DataType::kFloat}};
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct ConvPacked : DeviceKernel {
  static constexpr KernelId id{"Conv", "cuda packed", {DataType::kFloat}};
  static constexpr int cost = kFastCost / 2;
  static constexpr std::string_view packing = "filters last";
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

using ConvKernels = ListOf<ConvPacked, Conv>;

}  // namespace intarsia::cuda
