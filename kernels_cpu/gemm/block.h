// SPDX-License-Identifier: Apache-2.0
//
// A block of C: what one unit of work computes, and how a product is divided into units.
//
// A product C[images][m][n] is cut into blocks of m_block rows by n_block columns; the cut depends
// on the shape alone, never on the number of threads, and K is not cut between units. Inside a
// block, K is cut so that the panels in use stay in the first cache levels; C holds the partial
// sums.
#pragma once

#include <cstdint>

#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

/// The most rows of a block.
inline constexpr int64_t kMaxBlockRows = 240;

/// How a product is divided.
struct Blocking {
  int64_t m_block;
  int64_t n_block;  ///< A multiple of kPanel.
  int64_t m_blocks;
  int64_t n_blocks;
  bool columns_first;  ///< Consecutive units walk along n, not along m.
};

/// `a_floats` is how much of A there is (not m * k where windows overlap). `most_rows` limits
/// m_block.
Blocking choose_blocking(int64_t m, int64_t n, int64_t k, int64_t a_floats, int64_t most_rows);

/// Operands of a block: those of a tile, for m rows.
struct Block {
  Isa isa;
  const float* const* rows;
  int64_t row_pitch;
  int64_t row_offset;
  int64_t taps;
  int64_t k;       ///< Per tap; may be 0, then C = act(bias + residual).
  const float* b;  ///< Panels [panel][tap][k][16], from the block's first column on.
  int64_t m;
  int64_t n;
  float* c;
  int64_t c_pitch;
  const float* bias;
  const float* residual;
  int64_t residual_pitch;
  ActivationSpec activation;
};

void run_block(const Block& block);

}  // namespace intarsia::cpu
