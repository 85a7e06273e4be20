// SPDX-License-Identifier: Apache-2.0
//
// Fast f32 matrix products on the batch-reduce GEMM family (gemm/gemm.h), with fused bias, residual
// and activation.
//
// `MatMulPacked` and `GemmPacked` have a constant second factor, packed in panels of 16 columns by
// the converter (Gemm's alpha, beta and transB are folded in); its extents in the plan stay those
// of ONNX. `MatMulComputed` packs a computed second factor at run time, matrix by matrix. The
// residual may be the same memory as Y.
#pragma once

#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

struct MatMulPacked {
  static constexpr KernelId id{"MatMul", "packed", {DataType::kFloat}};
  static constexpr InPlace in_place{3};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
  static ActivationSpec activation(const KernelContext& context);
  static void compute(const KernelContext& context, const Epilogue& epilogue);
};
extern template struct Bounded<MatMulPacked>;

struct MatMulComputed {
  static constexpr KernelId id{"MatMul", "computed", {DataType::kFloat}};
  static constexpr int cost = 2 * kFastCost;
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context);
  static int64_t workspace(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct GemmPacked {
  static constexpr KernelId id{"Gemm", "packed", {DataType::kFloat}};
  static constexpr InPlace in_place{3};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
  static ActivationSpec activation(const KernelContext& context);
  static void compute(const KernelContext& context, const Epilogue& epilogue);
};
extern template struct Bounded<GemmPacked>;

}  // namespace intarsia::cpu
