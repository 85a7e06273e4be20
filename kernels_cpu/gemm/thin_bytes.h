// SPDX-License-Identifier: Apache-2.0
//
// C = (A - its zero points) * (B - its zero points), matrices of bytes, A of few rows: exact sums
// of 32 bits, which wrap around. Rows of B are read once, as they lie: packing them (typed.h) would
// be most of the work.
#pragma once

#include "kernels_cpu/gemm/typed.h"

namespace intarsia::cpu {

/// Most rows of such a product: making pairs of B takes longer than making quads.
inline ptrdiff_t most_thin_byte_rows(Isa isa) {
  return pick_groups(isa, []<class S>(S) { return kQuads<S> ? 3 : 12; });
}
/// Columns are shared out by a multiple of this.
inline constexpr ptrdiff_t kThinByteColumns = 64;

struct ThinBytes {
  ptrdiff_t rows;
  ptrdiff_t columns;
  ByteFactor a;  ///< k_step is 1.
  ByteFactor b;  ///< lane_step is 1; the columns are the first lanes.
  uint32_t* c;
  ptrdiff_t c_pitch;
};

void multiply_thin_bytes(const ThinBytes& product, Isa isa);

/// The same for one instruction set, with bytes taken in groups S, but for the zero points of B:
/// the differences of A times what makes the bytes of B signed numbers. In typed_<isa>.cpp.
template <Isa I, class S>
struct ThinByteTiles {
  static void multiply(const ThinBytes& product);
};

}  // namespace intarsia::cpu
