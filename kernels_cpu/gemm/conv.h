// SPDX-License-Identifier: Apache-2.0
//
// Convolution in NDHWC, f32: out[b][z][y][x][o] = act(bias[o] + residual[b][z][y][x][o] + sum over
// taps (h, i, j) and channels c of in[b][z * stride_d - pad_front + h * dilation_d][y * stride_h -
// ...][x * stride_w - ...][c] * w[h][i][j][c][o]), zeros outside the image. Images and signals have
// depth, and height, 1.
//
// Pixels lie `pitch` floats apart, so channels may be a slice of a wider tensor; rows and planes of
// the output may lie apart, too. Weights are packed by pack_conv. Units and bits as in gemm.h; the
// residual may be the output itself.
#pragma once

#include <cstddef>

#include "intarsia/checked_int.h"
#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

struct ConvShape {
  int64_t batch = 1;
  int64_t in_d = 1, in_h = 1, in_w = 1, in_c = 0;  ///< in_c: channels of all groups.
  int64_t out_d = 1, out_h = 1, out_w = 1, out_c = 0;
  int64_t kernel_d = 1, kernel_h = 1, kernel_w = 1;
  int64_t stride_d = 1, stride_h = 1, stride_w = 1;
  int64_t dilation_d = 1, dilation_h = 1, dilation_w = 1;  ///< Negative: taps walk backwards.
  /// In front; those behind follow from the output's extents. Negative: pixels are left out.
  int64_t pad_front = 0, pad_top = 0, pad_left = 0;
  int64_t groups = 1;
  int64_t in_pitch = 0;   ///< Floats from pixel to pixel, at least in_c.
  int64_t out_pitch = 0;  ///< The same for the output.
  /// Floats from row to row, plane to plane and image to image of the output; 0: it has no gaps.
  int64_t out_row_pitch = 0, out_plane_pitch = 0, out_image_pitch = 0;
};

struct ConvArgs {
  ConvShape shape;
  const float* input;
  const float* weights;  ///< packed_floats(groups, taps * in_c / groups, out_c / groups)
  float* output;
  const float* bias = nullptr;      ///< [out_c], or null.
  const float* residual = nullptr;  ///< Pixels residual_pitch floats apart, or null; not
                                    ///< for an output with gaps.
  int64_t residual_pitch = 0;
  Epilogue epilogue = {};
  Isa isa = Isa::kPortable;
};

/// Number of units; 0 if the output is empty.
int64_t conv_units(const ConvShape& shape);

/// Bytes of workspace that each concurrent call of conv_run needs, aligned to 64, for this shape
/// and for every image of at most its height and width.
[[gnu::cold]] CheckedInt conv_workspace_bytes(const ConvShape& shape);

/// Computes units [begin, end). The workspace's content is neither read nor kept between calls.
void conv_run(const ConvArgs& args, int64_t begin, int64_t end, void* workspace);

}  // namespace intarsia::cpu
