// SPDX-License-Identifier: Apache-2.0
//
// Bytes looked up in a table of 256, on the vectors of one instruction set. x and y may be the same
// array, and may not overlap the table.
#pragma once

#include <cstdint>

#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

template <Isa I>
struct ByteTable {
  /// y[i] = table[x[i]] for i in [0, n).
  static void map(const uint8_t* x, uint8_t* y, int64_t n, const uint8_t* table);
};

}  // namespace intarsia::cpu
