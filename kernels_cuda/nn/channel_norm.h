// SPDX-License-Identifier: Apache-2.0
//
// Normalisations by channels:
//
//     Y = (X - mean) / sqrt(variance + epsilon) * scale + shift
//
// BatchNormalization has the statistics as inputs, in both layouts (training is the CPU's);
// InstanceNormalization and GroupNormalization compute those of a channel, or of a group of them,
// channels first. All in float. Y may be the same memory as X.
// Specification: https://onnx.ai/onnx/operators/onnx__GroupNormalization.html and its relatives
#pragma once

#include "core/operators/nn/normalization.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// P is the type of scale, shift, mean and variance.
template <class T, class P>
struct BatchNormalization : DeviceKernel {
  static constexpr KernelId id{
      "BatchNormalization", kVariant, {data_type_of<T>, data_type_of<P>, data_type_of<P>}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context) {
    return context.attributes<BatchNormalizationAttributes>().training_mode == 0;
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>, p = data_type_of<P>;
    if (Status status = check_operands<ops::BatchNormalization>(
            context, {.inputs = {t, p, p, p, p}, .required_inputs = 5, .outputs = {t}});
        !status) {
      return status;
    }
    return supports(context) ? Status()
                             : context.fail(Code::kUnsupported, "training_mode on CUDA", 0, 1);
  }
  static Status run(const KernelContext& context);
};

struct InstanceOp {
  static constexpr std::string_view name = "InstanceNormalization";
  using Attributes = InstanceNormalizationAttributes;
  using Rule = ops::InstanceNormalization;
};
struct GroupOp {
  static constexpr std::string_view name = "GroupNormalization";
  using Attributes = GroupNormalizationAttributes;
  using Rule = ops::GroupNormalization;
};

template <class Op, class T>
struct GroupedNormalization : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    return check_operands<typename Op::Rule>(
        context, {.inputs = {t, t, t}, .required_inputs = 3, .outputs = {t}});
  }
  static Status run(const KernelContext& context);
};

using ChannelNormKernels =
    Join<ListOf<BatchNormalization<float, float>, BatchNormalization<Float16, Float16>,
                BatchNormalization<Float16, float>>,
         EachPair<GroupedNormalization, Types<InstanceOp, GroupOp>, Reals>>;

}  // namespace intarsia::cuda
