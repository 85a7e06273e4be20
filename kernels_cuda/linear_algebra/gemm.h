// SPDX-License-Identifier: Apache-2.0
//
// Matrix products in float with the epilogue of the CPU kernels:
//
//     MatMul  Y = activation(A * B + bias + Z)
//     Gemm    Y = activation(alpha * A' * B' + beta * C + Z)
//
// MatMul follows numpy.matmul. `GemmPacked` serves a constant, transposed B, which the converter
// stores as rows of the product's columns. The residual Z may be the same memory as Y.
#pragma once

#include "core/operators/linear_algebra/matmul.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

struct MatMul : DeviceKernel {
  static constexpr KernelId id{"MatMul", kVariant, {DataType::kFloat}};
  static constexpr InPlace in_place{3};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct Gemm : DeviceKernel {
  static constexpr KernelId id{"Gemm", kVariant, {DataType::kFloat}};
  static constexpr InPlace in_place{3};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct GemmPacked : DeviceKernel {
  static constexpr KernelId id{"Gemm", "cuda packed", {DataType::kFloat}};
  static constexpr int cost = kFastCost / 2;
  static constexpr std::string_view packing = "transposed";
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

using GemmKernels = ListOf<GemmPacked, Gemm, MatMul>;

}  // namespace intarsia::cuda
