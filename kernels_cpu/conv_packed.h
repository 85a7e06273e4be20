// SPDX-License-Identifier: Apache-2.0
//
// Fast f32 convolution over packed weights: ONNX Conv with 1 or 2 spatial axes, channels-last, with
// fused bias, residual and activation.
//
// `ConvPacked` runs on the batch-reduce GEMM family (gemm/conv.h), weights in panels of 16 columns;
// `ConvDepthwise` is for one input channel per output channel (gemm/depthwise.h). W keeps its ONNX
// extents in the plan; its bytes are the packed form. The residual Z may be the same memory as Y.
#pragma once

#include "kernels_cpu/bounded.h"
#include "kernels_cpu/kernel_types.h"

namespace intarsia::cpu {

struct ConvPacked {
  static constexpr KernelId id{"Conv", "packed", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static int64_t workspace(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
  static ActivationSpec activation(const KernelContext& context);
  static void compute(const KernelContext& context, const Epilogue& epilogue);
};
extern template struct Bounded<ConvPacked>;

struct ConvDepthwise {
  static constexpr KernelId id{"Conv", "depthwise", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant = "depthwise_bounded";
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
  static ActivationSpec activation(const KernelContext& context);
  static void compute(const KernelContext& context, const Epilogue& epilogue);
};
extern template struct Bounded<ConvDepthwise>;

}  // namespace intarsia::cpu
