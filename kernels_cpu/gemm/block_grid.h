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

}  // namespace intarsia::cpu
