// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/gemm/block_grid.h"

#include "kernels_cpu/gemm/even_block.h"

namespace intarsia::cpu {

// Compiled for size: there are more divisions than anything else.
[[gnu::cold]] int64_t BlockGrid::unevenness(int64_t threads) const {
  const int64_t along = ceil_div(length, length_block);
  const int64_t units = ceil_div(lines, line_block) * along;
  int64_t most = 0;
  for (int64_t thread = 0, end = 0, done = 0; thread < threads; ++thread) {
    end += units / threads + (thread < units % threads ? 1 : 0);
    const int64_t line = end / along * line_block;
    const int64_t height = max(min(line_block, lines - line), 0);
    const int64_t all =
        min(line, lines) * length + height * min(end % along * length_block, length);
    most = max(most, all - done);
    done = all;
  }
  return most * threads * 100 / (lines * length) - 100;
}

}  // namespace intarsia::cpu
