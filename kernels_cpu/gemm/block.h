// SPDX-License-Identifier: Apache-2.0
//
// A block of C: what one unit of work computes, and how a product is divided into units.
//
// A product C[images][m][n] is cut into blocks of m_block rows by n_block columns; the cut depends
// on the shape alone, never on the number of threads, and K is not cut between units. Inside a
// block, K is cut so that the panels in use stay in the first cache levels; C holds the partial
// sums. Everything here counts what lies in memory, so ptrdiff_t holds it: divisions of 64 bits
// would be a quarter of this code on a processor of 32.
#pragma once

#include <cstddef>

#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

/// The most rows of a block.
inline constexpr ptrdiff_t kMaxBlockRows = 240;

/// How a product is divided.
struct Blocking {
  ptrdiff_t m_block;
  ptrdiff_t n_block;  ///< A multiple of kPanel.
  ptrdiff_t m_blocks;
  ptrdiff_t n_blocks;
  bool columns_first;  ///< Consecutive units walk along n, not along m.
};

/// `a_floats` is how much of A there is (not m * k where windows overlap). `most_rows` limits
/// m_block.
Blocking choose_blocking(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_floats,
                         ptrdiff_t most_rows);

/// Operands of a block: those of a tile, for m rows.
struct Block {
  Isa isa;
  const float* const* rows;
  /// What rows in the padding point at, and `trim_taps`, by which taps of a tile that see nothing
  /// else are left out; null where there is no padding, and so programs without do not link it.
  const float* zeros;
  void (*trim)(Tile& tile, ptrdiff_t rows, const float* zeros);
  ptrdiff_t row_pitch;
  ptrdiff_t row_offset;
  ptrdiff_t taps;
  ptrdiff_t k;     ///< Per tap; may be 0, then C = act(bias + residual).
  const float* b;  ///< Panels [panel][tap][k][16], from the block's first column on.
  bool b_ends;     ///< Nothing behind the last panel is to be fetched.
  ptrdiff_t m;
  ptrdiff_t n;
  float* c;
  ptrdiff_t c_pitch;
  const float* bias;
  const float* residual;
  ptrdiff_t residual_pitch;
  Epilogue epilogue;
};

void run_block(const Block& block);

/// Leaves out the first and the last taps of a tile that meet padding alone.
void trim_taps(Tile& tile, ptrdiff_t rows, const float* zeros);

}  // namespace intarsia::cpu
