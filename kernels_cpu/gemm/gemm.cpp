// SPDX-License-Identifier: Apache-2.0
//
// See gemm.h.
#include "kernels_cpu/gemm/gemm.h"

#include "kernels_cpu/gemm/block.h"

namespace intarsia::cpu {
namespace {

Blocking blocking_of(const GemmShape& s) {
  return choose_blocking(s.m, s.n, s.k, s.m * s.k, kMaxBlockRows);
}

}  // namespace

int64_t gemm_units(const GemmShape& shape) {
  if (shape.m <= 0 || shape.n <= 0) return 0;
  const Blocking blocking = blocking_of(shape);
  return blocking.m_blocks * blocking.n_blocks;
}

void gemm_run(const GemmArgs& args, int64_t begin, int64_t end) {
  const GemmShape& shape = args.shape;
  const Blocking blocking = blocking_of(shape);
  const float* rows[kMaxBlockRows];
  Block block{};
  block.isa = args.isa;
  block.rows = rows;
  block.row_pitch = kMaxBlockRows;
  block.taps = 1;
  block.k = shape.k;
  block.b_ends = args.own_b;
  block.c_pitch = args.c_pitch;
  block.residual_pitch = args.residual_pitch;
  block.epilogue = args.epilogue;
  for (auto unit = static_cast<ptrdiff_t>(begin); unit < end; ++unit) {
    const bool by_columns = blocking.columns_first;
    const ptrdiff_t fast = by_columns ? blocking.n_blocks : blocking.m_blocks;
    const ptrdiff_t m0 = (by_columns ? unit / fast : unit % fast) * blocking.m_block;
    const ptrdiff_t n0 = (by_columns ? unit % fast : unit / fast) * blocking.n_block;
    block.m = shape.m - m0 < blocking.m_block ? shape.m - m0 : blocking.m_block;
    block.n = shape.n - n0 < blocking.n_block ? shape.n - n0 : blocking.n_block;
    for (ptrdiff_t r = 0; r < block.m; ++r) rows[r] = args.a + (m0 + r) * args.a_pitch;
    block.b = args.b + n0 * shape.k;
    block.c = args.c + m0 * args.c_pitch + n0;
    block.bias = args.bias ? args.bias + n0 : nullptr;
    block.residual = args.residual ? args.residual + m0 * args.residual_pitch + n0 : nullptr;
    run_block(block);
  }
}

}  // namespace intarsia::cpu
