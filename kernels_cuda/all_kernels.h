// SPDX-License-Identifier: Apache-2.0
//
// Every CUDA kernel as a set, for programs that open plans which they do not know when they are
// built, such as tests. Others name the kernels of their plans in a kernel_set of their own.
#pragma once

#include "kernels_cuda/binary.h"
#include "kernels_cuda/conv.h"
#include "kernels_cuda/gemm.h"
#include "kernels_cuda/inverse.h"
#include "kernels_cuda/movement.h"
#include "kernels_cuda/pool.h"
#include "kernels_cuda/softmax.h"
#include "kernels_cuda/transfer.h"
#include "kernels_cuda/unary.h"

namespace intarsia::cuda {

constexpr KernelSet all_kernels() {
  using enum ElementWidth;
  return kernel_set<ToDevice, ToHost, Abs, Ceil, Clip, Elu, Erf, Exp, Floor, Gelu, HardSigmoid,
                    HardSwish, LeakyRelu, Log, Neg, Reciprocal, Relu, Sigmoid, Softplus, Sqrt,
                    Swish, Tanh, Add, Div, Max, Min, Mul, Pow, PRelu, Sub, Sum, ConvPacked, Conv,
                    GemmPacked, Gemm, MatMul, MaxPool, AveragePool, GlobalAveragePool,
                    GlobalMaxPool, Softmax, LogSoftmax, Inverse<float>, Inverse<double>,
                    Inverse<Float16>, Concat<k8>, Concat<k16>, Concat<k32>, Concat<k64>, Flatten,
                    Identity, Reshape, Squeeze, Transpose<k8>, Transpose<k16>, Transpose<k32>,
                    Transpose<k64>, Unsqueeze>();
}

}  // namespace intarsia::cuda
