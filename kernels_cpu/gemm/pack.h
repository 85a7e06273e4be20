// SPDX-License-Identifier: Apache-2.0
//
// Packing of the second operand into panels of 16 columns, the same for every instruction set:
//
//   [group][panel][k][16],   panel p of a group holds its columns 16 p to 16 p + 15,
//
// the columns beyond the last one zero. For a convolution k runs over (kernel row, kernel column,
// input channel of the group) and a column is an output channel. Converters pack weights offline;
// MatMul of two computed operands packs at run time. No aliasing between source and destination.
#pragma once

#include <cstdint>

#include "intarsia/checked_int.h"
#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

/// Panels that n columns take.
constexpr int64_t panel_count(int64_t n) {
  return (n + kPanel - 1) / kPanel;
}

/// Floats that packing takes. `k` is kernel height * width * input channels of a group for a
/// convolution, `n` the columns of one group.
constexpr int64_t packed_floats(int64_t groups, int64_t k, int64_t n) {
  return groups * panel_count(n) * k * kPanel;
}
/// The same in bytes, for weights that are not proved to be there yet.
inline CheckedInt panel_bytes(int64_t groups, int64_t k, int64_t n) {
  return CheckedInt(groups) * panel_count(n) * k * kPanel * sizeof(float);
}

/// Packs B[k][n], rows `pitch` floats apart.
void pack_b(const float* b, int64_t pitch, int64_t k, int64_t n, float* packed);

/// Packs B given as its transpose, b[n][k], rows `pitch` elements apart. E is float, or uint16_t
/// for the bits of halves, here and below.
template <class E>
void pack_b_transposed(const E* b, int64_t pitch, int64_t k, int64_t n, E* packed);

/// to[j][i] = from[i][j] for `rows` rows of `columns` elements; rows lie so many apart.
template <class E>
void transpose(const E* from, int64_t from_pitch, int64_t rows, int64_t columns, E* to,
               int64_t to_pitch);

/// Packs convolution weights of ONNX, [groups * n][channels][taps]: n output channels and
/// `channels` input channels in each group.
template <class E>
void pack_conv(const E* weights, int64_t groups, int64_t n, int64_t channels, int64_t taps,
               E* packed);

/// Packs depthwise weights of ONNX, [channels][1][taps], as [taps][channels]; takes as many floats
/// as they are.
template <class E>
void pack_depthwise(const E* weights, int64_t channels, int64_t taps, E* packed);

}  // namespace intarsia::cpu
