// SPDX-License-Identifier: Apache-2.0
//
// How byte_panels_amx.h cuts rows of A into tiles, all of one height. Rows of an image lie in
// lines, the same distance apart, and are read where they lie by tiles that end where lines do.
// What is left over is taken by tiles that reach back over rows of others, which are computed
// again.
//
// Included by sources of AVX-512 only.
#pragma once

#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/even_block.h"

namespace intarsia::cpu {

template <Isa I>
struct ByteRowTiles;

template <>
struct ByteRowTiles<Isa::kAmx> {
  static constexpr ptrdiff_t kMostRows = 96;

  struct Tile {
    const uint8_t* const* at;
    ptrdiff_t first;
    bool evenly;  ///< `pitch` bytes apart.
  };
  ptrdiff_t count = 0, height, pitch = 0;
  Tile tiles[kMostRows];

  /// REQUIRES: rows of 1 to kMostRows.
  ByteRowTiles(const uint8_t* const* a, ptrdiff_t rows) {
    ptrdiff_t longest = 1;
    for (ptrdiff_t first = 0, last; first + 1 < rows; first = last) {
      const ptrdiff_t step = a[first + 1] - a[first];
      for (last = first + 1; last + 1 < rows && a[last + 1] - a[last] == step;) ++last;
      if (last - first < longest) continue;
      longest = last - first + 1;
      pitch = step;
    }
    const ptrdiff_t line = longest < kShortLine ? rows : longest;
    height = ceil_div(line, ceil_div(line, kTileRows));
    ptrdiff_t ends[kMostRows];  // of the line of each row
    ends[rows - 1] = rows;
    for (ptrdiff_t r = rows - 2; r >= 0; --r) {
      ends[r] = a[r + 1] - a[r] == pitch ? ends[r + 1] : r + 1;
    }
    const auto is_even = [&](ptrdiff_t row) { return ends[row] - row >= height; };
    for (ptrdiff_t row = 0; row < rows; row += height) {
      const ptrdiff_t back = max(ends[row] - height, 0);
      row = min(row, is_even(back) ? back : rows - height);
      tiles[count++] = {a + row, row, is_even(row)};
    }
  }
};

}  // namespace intarsia::cpu
