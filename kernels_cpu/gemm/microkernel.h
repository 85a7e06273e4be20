// SPDX-License-Identifier: Apache-2.0
//
// The f32 micro-kernels: tiles of a product, and depthwise convolution, for each instruction set.
//
// A tile computes C[rows x n] = act(init + sum over taps t of A_t[rows x k] * B_t[k x n]), where
// init is bias + residual. A is given by row pointers, so a convolution needs neither im2col nor
// code for its edges: a row that falls into the padding points at zeros. B is packed in panels of
// 16 columns, [panel][tap][k][16], the same for every instruction set. Every element of C is one
// chain of multiply-adds in the order of (tap, k): its value does not depend on the tiling. A tile
// writes the valid columns of C and nothing else. The residual may be C itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/operators/common/activation.h"
#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// Columns of a panel of packed weights.
inline constexpr int kPanel = 16;

/// The most rows that a tile of any instruction set has.
inline constexpr int kMaxTileRows = 8;

/// y = act(y) for `rows` rows of n elements.
using ActivationFunction = void (*)(const ActivationSpec& spec, float* y, ptrdiff_t pitch,
                                    ptrdiff_t rows, ptrdiff_t n);

/// What happens to a finished sum: bounds, applied in registers, then an activation of the stored
/// result where bounds do not express it.
struct Epilogue {
  float lower = -__builtin_huge_valf();  // The files of an instruction set use nothing of std.
  float upper = __builtin_huge_valf();
  ActivationFunction activate = nullptr;  ///< Null: the bounds are all.
  ActivationSpec spec = {};
};

/// True if bounds alone express the activation: none, Relu, Clip.
bool is_bounds(const ActivationSpec& spec);
/// The epilogue of such an activation; what is none of them is left out.
Epilogue bounds_of(const ActivationSpec& spec);
/// The epilogue of any activation. A program that calls this links all activation functions.
Epilogue epilogue_of(const ActivationSpec& spec, Isa isa);

/// Operands of one tile. Pitches and offsets count floats (row_pitch: pointers).
struct Tile {
  const float* const* rows;  ///< Row r of tap t is rows[t * row_pitch + r] + row_offset.
  ptrdiff_t row_pitch;
  ptrdiff_t row_offset;
  ptrdiff_t taps;
  ptrdiff_t k;              ///< Length of a row, for each tap; at least 1.
  const float* b;           ///< First panel, at the first tap.
  const float* prefetch;    ///< The line that is fetched into the second cache level;
  ptrdiff_t prefetch_step;  ///< so many bytes further for each of taps * k steps.
  ptrdiff_t b_panel_pitch;  ///< From a panel to the next.
  float* c;
  ptrdiff_t c_pitch;
  ptrdiff_t n;            ///< Valid columns, more than 16 * (panels - 1) of the kernel.
  const float* bias;      ///< [n], or null.
  const float* residual;  ///< [rows][n], or null.
  ptrdiff_t residual_pitch;
  const Epilogue* epilogue;
};

using TileFunction = void (*)(const Tile& tile);

/// Tiles of one width: `by_rows[r - 1]` computes r rows.
struct TileFamily {
  int panels;
  int max_rows;
  const TileFunction* by_rows;
};

/// Output rows of a depthwise convolution that see the same kernel planes and rows:
/// out[y][x][c] = act(bias[c] + residual[y][x][c] + sum over h < planes, i < rows, j < cols of
///     input[y * input_step + h * plane_pitch + i * row_pitch
///     + (x * stride - pad_left + j * dilation) * pixel_pitch + (lead + c) / multiplier]
///     * weights[h * weights_plane_pitch + i * weights_row_pitch + j * weights_pitch + c]),
/// where input columns outside [0, width) count as zeros; the caller leaves out kernel planes and
/// rows that lie outside the image. The residual lies as the output does; neither it nor the input
/// may overlap the output, of which some pixels are computed twice.
struct DepthwiseBlock {
  const float* input;    ///< Column 0 of the image row under the first kernel row.
  ptrdiff_t multiplier;  ///< Output channels of an input channel; 1 unless any window is served.
  ptrdiff_t lead;        ///< Those of the first input channel that come before; < multiplier.
  ptrdiff_t input_step;
  ptrdiff_t plane_pitch;
  ptrdiff_t row_pitch;
  ptrdiff_t pixel_pitch;
  ptrdiff_t width;
  ptrdiff_t stride;
  ptrdiff_t dilation;
  ptrdiff_t pad_left;
  int planes;  ///< At least 1.
  int rows;
  int cols;
  const float* weights;
  ptrdiff_t weights_plane_pitch;
  ptrdiff_t weights_row_pitch;
  ptrdiff_t weights_pitch;
  const float* bias;      ///< [channels], or null.
  const float* residual;  ///< Or null.
  float* output;
  ptrdiff_t output_row_pitch;
  ptrdiff_t output_pitch;
  ptrdiff_t height;  ///< Output rows.
  ptrdiff_t pixels;  ///< Of an output row.
  ptrdiff_t channels;
  Epilogue epilogue;
};

using DepthwiseFunction = void (*)(const DepthwiseBlock& block);

/// Rows of some filters of a convolution whose channels are planes (planes.h):
/// out[n][y][x] = bound(start[n][y][x] + sum over i < k of
///     input[y * input_row_pitch + x + taps[i]] * weights[i * weights_pitch + n]),
/// where it starts from bias[n] + residual[n][y][x], or from the output. Of each row the input is
/// read up to the end of its last vector; the residual lies as the output does, and may be it.
struct PlaneBlock {
  const float* input;
  const ptrdiff_t* taps;  ///< [channel][plane][row][column]
  ptrdiff_t k;
  ptrdiff_t tap_rows, tap_columns;
  /// A row of taps meets what the one so many above it meets in the next row of the output.
  ptrdiff_t tap_row_step;
  const float* weights;
  ptrdiff_t weights_pitch;
  ptrdiff_t filters;
  ptrdiff_t rows, columns;
  ptrdiff_t input_row_pitch;
  float* output;
  ptrdiff_t output_row_pitch, output_plane_pitch;
  bool start;             ///< If not, the sums go on from the output.
  const float* bias;      ///< [filters], or null.
  const float* residual;  ///< Or null.
  float lower, upper;
};

using PlaneFunction = void (*)(const PlaneBlock& block);

/// What a depthwise micro-kernel knows of its windows when it is compiled: the kernel's columns,
/// and the pixels' distance, counted in dilations. 0: nothing, it serves any window. A plan names
/// the ones of its layers (nn/conv_depthwise.cpp), so that programs link no others.
template <int Cols, int Stride>
struct DepthwiseWindow {
  static constexpr int kCols = Cols;
  static constexpr int kStride = Stride;
};

/// F(M x M, 3 x 3) of winograd.h: its transforms (winograd_transform.h).
template <int M>
struct Winograd;

/// v[p * v_pitch + c] = element p of the transformed window of channel c.
struct WinogradWindow {
  const float* const* pixels;  ///< (M + 2)^2 pixels, row by row; those in the padding are zeros.
  ptrdiff_t channels;
  float* v;
  ptrdiff_t v_pitch;
};

/// The valid pixels of a tile: output[i][j][o] = act(bias[o] + residual[i][j][o] + element (i, j)
/// of the products p[(M + 2)^2][o] transformed back). The residual may be the output itself.
struct WinogradTile {
  const float* p;
  ptrdiff_t p_pitch;
  ptrdiff_t filters;
  int rows, columns;  ///< At most M.
  const float* bias;  ///< [filters], or null.
  const float* residual;
  ptrdiff_t residual_row_pitch, residual_pitch;
  float* output;
  ptrdiff_t output_row_pitch, output_pitch;
  Epilogue epilogue;
};

/// The tiles of one instruction set.
struct TileKernels {
  int mains;  ///< The last so many families are for any number of rows, the others for a few.
  int family_count;
  const TileFamily* families;  ///< Few rows first, then widest first; the last has one panel.
};

/// The micro-kernels of one instruction set, defined in kernels_<isa>.cpp. A program links the
/// members that it uses.
template <Isa I>
struct Microkernels {
  static TileKernels tiles();
  static void depthwise(DepthwiseWindow<3, 1>, const DepthwiseBlock& block);
  static void depthwise(DepthwiseWindow<3, 2>, const DepthwiseBlock& block);
  static void depthwise(DepthwiseWindow<5, 1>, const DepthwiseBlock& block);
  static void depthwise(DepthwiseWindow<5, 2>, const DepthwiseBlock& block);
  static void depthwise(DepthwiseWindow<7, 1>, const DepthwiseBlock& block);
  static void depthwise(DepthwiseWindow<0, 0>, const DepthwiseBlock& block);
  static void planes(const PlaneBlock& block);
  static void winograd_input(Winograd<2>, const WinogradWindow& window);
  static void winograd_input(Winograd<4>, const WinogradWindow& window);
  static void winograd_output(Winograd<2>, const WinogradTile& tile);
  static void winograd_output(Winograd<4>, const WinogradTile& tile);
  static void activate(const ActivationSpec& spec, float* y, ptrdiff_t pitch, ptrdiff_t rows,
                       ptrdiff_t n);
};

/// Those of `isa`, or of the best one of this build below it.
TileKernels tile_kernels(Isa isa);
PlaneFunction plane_kernel(Isa isa);
template <class Window>
DepthwiseFunction depthwise_kernel(Isa isa) {
  return pick_isa(isa, [](auto i) -> DepthwiseFunction {
    constexpr Isa kIsa = decltype(i)::value;
    return [](const DepthwiseBlock& block) { Microkernels<kIsa>::depthwise(Window{}, block); };
  });
}

}  // namespace intarsia::cpu
