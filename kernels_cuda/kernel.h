// SPDX-License-Identifier: Apache-2.0
//
// What every CUDA kernel type declares. A kernel's header compiles without CUDA: the converter
// reads `id`, `supports` and `check` from it; `run`, which launches device code, is defined in the
// .cu file of the same name and linked by programs only.
//
//     struct Softmax {
//       static constexpr KernelId id{"Softmax", kVariant, {DataType::kFloat}};
//       static Status check(const KernelContext& context) { ... }
//       static Status run(const KernelContext& context);  // softmax.cu
//     };
#pragma once

#include "core/operand_check.h"
#include "intarsia/kernel.h"

namespace intarsia::cuda {

/// The variant of the kernels here; others of the same operator append to it. Their operands lie in
/// device memory: the host sees extents only.
inline constexpr std::string_view kVariant = "cuda";

}  // namespace intarsia::cuda
