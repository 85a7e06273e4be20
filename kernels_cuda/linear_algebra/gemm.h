// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with the epilogue of the CPU kernels:
//
//     MatMul        Y = activation(A * B + bias + Z)
//     ScaledMatMul  Y = activation(alpha * A' * B' + bias + Z)
//     Gemm          Y = activation(alpha * A' * B' + beta * C + Z)
//
// MatMul follows numpy.matmul. Sums are float; elements float, or float16 on the matrix units.
// `GemmPacked` serves a constant, transposed B, which the converter stores as rows of the product's
// columns. The residual Z may be the same memory as Y.
#pragma once

#include "core/operators/linear_algebra/matmul.h"
#include "kernels_cuda/common/kernel.h"
#include "kernels_cuda/linear_algebra/product_extents.h"

namespace intarsia::cuda {

/// Whether all batches of a MatMul have the same B.
inline bool is_one_matrix(const TensorView& b) {
  return b.rank >= 2 && b.count() == int64_t{b.extents[b.rank - 2]} * b.extents[b.rank - 1];
}
ProductExtents matmul_extents(const KernelContext& context, const ProductForm& form);
ProductExtents gemm_extents(const KernelContext& context);
template <class Rule>
Status check_matmul(const KernelContext& context, DataType type);
Status check_gemm(const KernelContext& context, DataType type);

/// Rule: ops::MatMul or ops::ScaledMatMul.
template <class Rule, class T>
struct MatMul : DeviceKernel {
  static constexpr KernelId id{kProductName<Rule>, kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{3};
  static int64_t workspace(const KernelContext& context) {
    return matmul_extents(context, product_form<Rule>(context)).workspace_bytes(sizeof(T));
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_matmul<Rule>(context, data_type_of<T>); !status) return status;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context);
};

template <class T>
struct Gemm : DeviceKernel {
  static constexpr KernelId id{"Gemm", kVariant, {data_type_of<T>}};
  static constexpr InPlace in_place{3};
  static int64_t workspace(const KernelContext& context) {
    return gemm_extents(context).workspace_bytes(sizeof(T));
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_gemm(context, data_type_of<T>); !status) return status;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context);
};

template <class T>
struct GemmPacked : DeviceKernel {
  static constexpr KernelId id{"Gemm", "cuda packed", {data_type_of<T>}};
  static constexpr int cost = kFastCost / 2;
  static constexpr std::string_view packing = "transposed";
  static constexpr InPlace in_place{3};
  static bool supports(const KernelContext& context) {
    return context.input(1).data != nullptr && context.attributes<GemmAttributes>().trans_b != 0;
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? context.input(1).bytes() : 0;
  }
  static void pack(const KernelContext& context, int input, void* packed);
  static int64_t workspace(const KernelContext& context) {
    return gemm_extents(context).workspace_bytes(sizeof(T));
  }
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

using GemmKernels = ListOf<GemmPacked<float>, GemmPacked<Float16>, Gemm<float>, Gemm<Float16>,
                           MatMul<ops::MatMul, float>, MatMul<ops::MatMul, Float16>,
                           MatMul<ops::ScaledMatMul, float>, MatMul<ops::ScaledMatMul, Float16>>;

}  // namespace intarsia::cuda
