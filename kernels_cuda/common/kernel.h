// SPDX-License-Identifier: Apache-2.0
//
// What every CUDA kernel type declares. A kernel's header compiles without CUDA: the converter
// reads `id`, `supports` and `check` from it; `run`, which launches device code, is defined in the
// .cu file of the same name and linked by programs only. The header ends with the list of its
// kernels, which the .cu file instantiates and kernels_cuda/kernels.h describes to the converter.
//
//     struct Softmax : DeviceKernel {
//       static constexpr KernelId id{"Softmax", kVariant, {DataType::kFloat}};
//       static Status check(const KernelContext& context) { ... }
//       static Status run(const KernelContext& context);  // softmax.cu
//     };
//     using SoftmaxKernels = ListOf<Softmax>;
#pragma once

#include "core/kernel_descriptor.h"
#include "core/runtime/operand_check.h"

namespace intarsia::cuda {

/// The variant of the kernels here; others of the same operator append to it. Their operands lie in
/// device memory: the host sees extents only.
inline constexpr std::string_view kVariant = "cuda";

/// The floating-point types of most kernels here: float16 is stored, and computed in float.
using Reals = Types<float, Float16>;

/// What all kernels here have in common.
struct DeviceKernel {
  static constexpr KernelDevice device = KernelDevice::kCuda;
};

}  // namespace intarsia::cuda
