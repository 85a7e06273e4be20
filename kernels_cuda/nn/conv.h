// SPDX-License-Identifier: Apache-2.0
//
// Convolution with an epilogue, Y = activation(conv(X, W) + B + Z), ONNX Conv with 1 or 2 spatial
// axes, groups, any padding, strides and dilations, both layouts. Sums are float; elements float,
// or float16 on the matrix units. The residual Z may be the same memory as Y.
//
// `Conv` and `ConvPacked` are an implicit product: rows are output positions, columns filters, the
// depth runs over kernel rows, columns and input channels. `ConvPacked` has its constant weights as
// [group][depth][filter], so that neighbouring threads read neighbouring filters. `ConvDepthwise`
// serves groups of one channel and one filter, channels last; its weights are [tap][channel].
#pragma once

#include "core/operators/nn/conv.h"
#include "kernels_cuda/common/kernel.h"
#include "kernels_cuda/linear_algebra/product_extents.h"

namespace intarsia::cuda {

ProductExtents conv_extents(const KernelContext& context);
/// Beside the workspace.
Status check_conv(const KernelContext& context, DataType type);
inline bool is_conv_rank(const KernelContext& context) {
  return context.input(0).rank == 3 || context.input(0).rank == 4;
}

template <class T>
struct Conv : DeviceKernel {
  static constexpr KernelId id{"Conv", kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context) { return is_conv_rank(context); }
  static int64_t workspace(const KernelContext& context) {
    return conv_extents(context).workspace_bytes(sizeof(T));
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_conv(context, data_type_of<T>); !status) return status;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context);
};

template <class T>
struct ConvPacked : DeviceKernel {
  static constexpr KernelId id{"Conv", "cuda packed", {data_type_of<T>}};
  static constexpr int cost = kFastCost / 2;
  static constexpr std::string_view packing = "filters last";
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context) {
    return is_conv_rank(context) && context.input(1).data != nullptr;
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? context.input(1).bytes() : 0;
  }
  static void pack(const KernelContext& context, int input, void* packed);
  static int64_t workspace(const KernelContext& context) { return Conv<T>::workspace(context); }
  static Status check(const KernelContext& context) { return Conv<T>::check(context); }
  static Status run(const KernelContext& context);
};

template <class T>
struct ConvDepthwise : DeviceKernel {
  static constexpr KernelId id{"Conv", "cuda depthwise", {data_type_of<T>}};
  static constexpr int cost = kFastCost / 4;
  static constexpr std::string_view packing = "channels last";
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? context.input(1).bytes() : 0;
  }
  static void pack(const KernelContext& context, int input, void* packed);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

using ConvKernels = ListOf<ConvDepthwise<float>, ConvDepthwise<Float16>, ConvPacked<float>,
                           ConvPacked<Float16>, Conv<float>, Conv<Float16>>;

}  // namespace intarsia::cuda
