// SPDX-License-Identifier: Apache-2.0
//
// Convolution by 3 x 3 windows in NDHWC, f32, by Winograd's minimal filtering F(m x m, 3 x 3)
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", arXiv:1509.09308).
//
// The output is cut into tiles of m x m pixels, m = 2 or 4. Each tile sees a window of n x n input
// pixels, n = m + 2; window and filters are transformed, multiplied point by point, and the
// products transformed back: n^2 multiplications in place of 9 m^2, 2.25 or 4 times fewer. Point by
// point, over channels, tiles and filters, they are n^2 matrix products, which block.h computes:
//
//     input  --B^T d B-->  V[n^2][tile][channel]
//                             x U[n^2][channel][filter]  -->  P[n^2][tile][filter]  --A^T p A-->  y
//
// Rounding: transforms mix pixels of different size, so that an error is relative to the largest
// terms of its tile; for m = 4 it is some ten times that of the direct sum. What is not finite
// spreads to its whole tile. Bits depend neither on threads nor on blocks.
//
// Several kernel planes (3 x 3 windows of a volume) are further taps of the products.
#pragma once

#include "kernels_cpu/gemm/conv.h"

namespace intarsia::cpu {

/// Whether this convolution can be computed so: windows of 3 x 3 (by any depth), one group, without
/// strides or dilation within a plane, into an output without gaps.
bool is_winograd(const ConvShape& shape);

/// Tiles of m x m pixels in the whole output.
int64_t winograd_tiles(int m, const ConvShape& shape);

/// Bytes of packed weights: [32 filters][n^2][16 filters][kernel_d][channel][16].
CheckedInt winograd_bytes(int m, int64_t depth, int64_t channels, int64_t filters);

/// Transforms and packs weights of ONNX, [filters][channels][depth][3][3].
void pack_winograd(int m, const float* weights, int64_t filters, int64_t channels, int64_t depth,
                   float* packed);

/// As conv_units, conv_workspace_bytes and conv_run; `args.weights` are packed by pack_winograd.
int64_t winograd_units(int m, const ConvShape& shape);
CheckedInt winograd_workspace_bytes(int m, const ConvShape& shape);
void winograd_run(int m, const ConvArgs& args, int64_t begin, int64_t end, void* workspace);

}  // namespace intarsia::cpu
