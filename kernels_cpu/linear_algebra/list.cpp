// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/linear_algebra/inverse.h"
#include "kernels_cpu/linear_algebra/matmul_packed.h"
#include "kernels_cpu/linear_algebra/matmul_reference.h"

namespace intarsia::cpu {

extern const KernelList linear_algebra_kernels;
constinit const KernelList linear_algebra_kernels =
    kernel_list<Bounded<GemmPacked>, GemmPacked, Bounded<MatMulPacked>, MatMulPacked,
                MatMulComputed, Each<MatMul, WideNumbers>, Each<Gemm, WideNumbers>,
                Each<Inverse, Types<float, double, Float16>>>();

}  // namespace intarsia::cpu
