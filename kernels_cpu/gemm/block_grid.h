// SPDX-License-Identifier: Apache-2.0
//
// A matrix cut into blocks, which threads share: as many each, but the last block of a line and
// those of the last line are smaller.
#pragma once

#include <cstdint>

namespace intarsia::cpu {

/// Blocks follow one another along a line.
struct BlockGrid {
  int64_t lines, line_block;     ///< All that there are across, and those of a block.
  int64_t length, length_block;  ///< The same along a line.

  /// How much more than an equal share one of the threads has, in percent, if all have as many
  /// blocks, or one more.
  int64_t unevenness(int64_t threads) const;
};

/// Into how many blocks rows and columns are cut.
struct BlockCut {
  int64_t rows, columns;
};

/// A cut like the first one, with as many blocks or some more, of which threads have more even
/// shares: by `cost(cut)` in percent, where less than `gain` is worth no other cut.
template <class Cost>
BlockCut even_cut(const BlockCut& first, int64_t most_rows, int64_t gain, const Cost& cost) {
  BlockCut cut = first;
  int64_t least = cost(first);
  for (BlockCut other = first; other.rows <= most_rows; ++other.rows) {
    for (const int64_t more : {int64_t{0}, int64_t{1}, int64_t{2}, first.columns}) {
      if (least <= gain) return cut;
      other.columns = first.columns + more;
      const int64_t its = cost(other);
      if (its + gain > least) continue;
      least = its;
      cut = other;
    }
  }
  return cut;
}

}  // namespace intarsia::cpu
