// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution in NDHWC, f32: each input channel has output channels of its own, as
// many as every other; otherwise the definition of conv.h with groups == in_c, without taps that
// walk backwards.
//
// Weights are [kernel_d][kernel_h][kernel_w][out_c] (pack_depthwise). Neither input nor
// residual may overlap the output. Units and bits as in gemm.h. No workspace.
#pragma once

#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Most spatial axes. Small programs, without vectors, do without the loops over planes.
inline constexpr int kDepthwiseAxes = INTARSIA_HAS_VECTORS ? 3 : 2;

/// REQUIRES: shape.groups == shape.in_c, of which shape.out_c is a multiple; the same unless
/// `kernel` serves any window, which may also have no input channels: the output is then the bias.
struct DepthwiseArgs {
  ConvShape shape;
  const float* input;
  const float* weights;
  float* output;
  const float* bias = nullptr;      ///< [out_c], or null.
  const float* residual = nullptr;  ///< Lies as the output does; or null.
  Epilogue epilogue = {};
  DepthwiseFunction kernel = nullptr;  ///< Of a window that fits the shape's, depthwise_kernel().
};

/// Number of units; 0 if the output is empty.
int64_t depthwise_units(const ConvShape& shape);

/// Computes units [begin, end).
void depthwise_run(const DepthwiseArgs& args, int64_t begin, int64_t end);

}  // namespace intarsia::cpu
