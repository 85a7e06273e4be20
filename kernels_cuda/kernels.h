// SPDX-License-Identifier: Apache-2.0
//
// Every CUDA kernel: the list of lists. Compiles without CUDA.
#pragma once

#include "kernels_cuda/elementwise/binary.h"
#include "kernels_cuda/elementwise/cast.h"
#include "kernels_cuda/elementwise/unary.h"
#include "kernels_cuda/elementwise/where.h"
#include "kernels_cuda/indexing/gather.h"
#include "kernels_cuda/indexing/one_hot.h"
#include "kernels_cuda/indexing/scatter.h"
#include "kernels_cuda/linear_algebra/gemm.h"
#include "kernels_cuda/linear_algebra/inverse.h"
#include "kernels_cuda/movement/join.h"
#include "kernels_cuda/movement/movement.h"
#include "kernels_cuda/movement/pad.h"
#include "kernels_cuda/movement/transfer.h"
#include "kernels_cuda/movement/trilu.h"
#include "kernels_cuda/nn/channel_norm.h"
#include "kernels_cuda/nn/conv.h"
#include "kernels_cuda/nn/layer_norm.h"
#include "kernels_cuda/nn/pool.h"
#include "kernels_cuda/nn/resize.h"
#include "kernels_cuda/nn/rotate.h"
#include "kernels_cuda/nn/softmax.h"
#include "kernels_cuda/reduction/reduce.h"

namespace intarsia::cuda {

using AllKernels =
    Join<TransferKernels, UnaryKernels, BinaryKernels, CastKernels, WhereKernels, ConvKernels,
         GemmKernels, WindowPoolKernels, GlobalPoolKernels, SoftmaxKernels, LayerNormKernels,
         ChannelNormKernels, ReduceKernels, RotateKernels, MovementKernels, JoinKernels, PadKernels,
         TriluKernels, GatherKernels, ScatterKernels, OneHotKernels, ResizeKernels, InverseKernels>;

/// As the converter sees them: `run`, which is device code, is null.
KernelList kernel_list();

/// All of them, for programs that open plans which they do not know when they are built, such as
/// tests. Others name the kernels of their plans in a set of their own.
constexpr KernelSet all_kernels() {
  return linked_set(AllKernels());
}

}  // namespace intarsia::cuda
