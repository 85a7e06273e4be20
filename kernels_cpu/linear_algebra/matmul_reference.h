// SPDX-License-Identifier: Apache-2.0
//
// Reference matrix products (ONNX MatMul, Gemm) with the fused end that fast kernels have:
//
//     MatMul  Y = activation(A * B + bias + Z)
//     Gemm    Y = activation(alpha * A' * B' + beta * C + Z)
//
// MatMul follows numpy.matmul. Integers wrap. The residual Z may be the same memory as Y. Rows of
// the output are shared out over the threads.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct MatMul {
  static constexpr KernelId id{"MatMul", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct Gemm {
  static constexpr KernelId id{"Gemm", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
