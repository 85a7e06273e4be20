// SPDX-License-Identifier: Apache-2.0
//
// Bytes looked up in a table of 256, on the vectors of one instruction set. x and y may be the same
// array, and may not overlap the table.
#pragma once

#include <cstdint>

#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// y[i] = table[x[i]] for i in [0, n).
using MapBytes = void(const uint8_t* x, uint8_t* y, int64_t n, const uint8_t* table);

template <Isa I>
struct ByteTable {
  static MapBytes map;
};

template <>
MapBytes ByteTable<Isa::kAmx>::map;

/// Of the best instruction set that is not above `isa`: tables differ where there is AVX512_VBMI,
/// too, which comes with AMX.
inline MapBytes* byte_table(Isa isa) {
#if INTARSIA_WITH_AVX512
  if (compiled_isa(isa) == Isa::kAmx) return &ByteTable<Isa::kAmx>::map;
#endif
  return pick_isa(isa, [](auto i) { return &ByteTable<i>::map; });
}

}  // namespace intarsia::cpu
