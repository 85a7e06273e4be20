// SPDX-License-Identifier: Apache-2.0
//
// Fast f32 convolution over packed weights: ONNX Conv with 1 or 2 spatial axes, channels-last, with
// fused bias, residual and activation.
//
// `ConvPacked` runs on the batch-reduce GEMM family (gemm/conv.h), weights in panels of 16 columns;
// `ConvDepthwise` is for one input channel per output channel (gemm/depthwise.h). W keeps its ONNX
// extents in the plan; its bytes are the packed form. The residual Z may be the same memory as Y.
#pragma once

#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

struct ConvPacked {
  static constexpr KernelId id{"Conv", "packed", {DataType::kFloat}};
  static constexpr InPlace in_place{3};
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

/// What does not depend on the window. `cols` and `stride` are those of a DepthwiseWindow.
struct ConvDepthwiseBase {
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context, int cols, int stride);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static Status check(const KernelContext& context, int cols, int stride);
  static ActivationSpec activation(const KernelContext& context);
  static void compute(const KernelContext& context, const Epilogue& epilogue,
                      DepthwiseFunction kernel);
};

struct DepthwiseVariants {
  std::string_view any_activation;
  std::string_view bounded;
};
template <class Window>
inline constexpr DepthwiseVariants kDepthwiseVariants;
template <>
inline constexpr DepthwiseVariants kDepthwiseVariants<DepthwiseWindow<3, 1>>{
    "depthwise_3x1", "depthwise_3x1_bounded"};
template <>
inline constexpr DepthwiseVariants kDepthwiseVariants<DepthwiseWindow<3, 2>>{
    "depthwise_3x2", "depthwise_3x2_bounded"};
template <>
inline constexpr DepthwiseVariants kDepthwiseVariants<DepthwiseWindow<5, 1>>{
    "depthwise_5x1", "depthwise_5x1_bounded"};
template <>
inline constexpr DepthwiseVariants kDepthwiseVariants<DepthwiseWindow<5, 2>>{
    "depthwise_5x2", "depthwise_5x2_bounded"};
template <>
inline constexpr DepthwiseVariants kDepthwiseVariants<DepthwiseWindow<7, 1>>{
    "depthwise_7x1", "depthwise_7x1_bounded"};
template <>
inline constexpr DepthwiseVariants kDepthwiseVariants<DepthwiseWindow<0, 0>>{"depthwise",
                                                                             "depthwise_bounded"};

/// One kernel for each window, so that a program links the micro-kernels of its layers alone.
template <class Window>
struct ConvDepthwise : ConvDepthwiseBase {
  static constexpr KernelId id{
      "Conv", kDepthwiseVariants<Window>.any_activation, {DataType::kFloat}};
  /// Less than ConvPacked; a window of its own before the one that serves what is left.
  static constexpr int cost = kFastCost - (Window::kCols == 0 ? 2 : 4);
  static constexpr std::string_view kBoundedVariant = kDepthwiseVariants<Window>.bounded;
  static bool supports(const KernelContext& context) {
    return ConvDepthwiseBase::supports(context, Window::kCols, Window::kStride);
  }
  static Status check(const KernelContext& context) {
    return ConvDepthwiseBase::check(context, Window::kCols, Window::kStride);
  }
  static Status run(const KernelContext& context) {
    compute(context, epilogue_of(activation(context), context.isa()));
    return {};
  }
  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    ConvDepthwiseBase::compute(context, epilogue, depthwise_kernel<Window>(context.isa()));
  }
};

}  // namespace intarsia::cpu
