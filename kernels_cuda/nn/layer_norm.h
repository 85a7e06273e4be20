// SPDX-License-Identifier: Apache-2.0
//
// LayerNormalization and RMSNormalization over the axes from `axis` on, as on the CPU:
//
//     LayerNormalization  Y = (X - mean) / sqrt(variance + epsilon) * scale + shift
//     RMSNormalization    Y = X / sqrt(mean of X^2 + epsilon) * scale
//
// All in float, the variance in a second pass. Y may be the same memory as X.
// Specification: https://onnx.ai/onnx/operators/onnx__LayerNormalization.html
#pragma once

#include "core/operators/nn/normalization.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// Mean and InvStdDev, if wanted, are float.
template <class T>
struct LayerNormalization : DeviceKernel {
  static constexpr KernelId id{"LayerNormalization", kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    constexpr KernelType f = DataType::kFloat;
    return check_operands<ops::LayerNormalization>(
        context, {.inputs = {t, t, t}, .required_inputs = 2, .outputs = {t, f, f}});
  }
  static Status run(const KernelContext& context);
};

/// V is the type of scale and Y.
template <class T, class V>
struct RMSNormalization : DeviceKernel {
  static constexpr KernelId id{"RMSNormalization", kVariant, {data_type_of<T>, data_type_of<V>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType v = data_type_of<V>;
    return check_operands<ops::RmsNormalization>(
        context, {.inputs = {data_type_of<T>, v}, .required_inputs = 2, .outputs = {v}});
  }
  static Status run(const KernelContext& context);
};

using LayerNormKernels =
    Join<Each<LayerNormalization, Reals>,
         ListOf<RMSNormalization<float, float>, RMSNormalization<Float16, Float16>,
                RMSNormalization<Float16, float>>>;

}  // namespace intarsia::cuda
