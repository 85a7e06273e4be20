// SPDX-License-Identifier: Apache-2.0
//
// C = (A - its zero point) * (B - its zero points), A a few rows of unsigned bytes, B constant and
// packed: exact sums of 32 bits, which wrap around. For products of a few rows that come again and
// again, where packing B each time (typed.h) would be most of the work.
//
// B is packed in panels of 16 columns, the same for every instruction set:
//
//     [panel][2 + k / 4][16]     32 bits each
//
// The first line of a panel are the sums of its columns without their zero points, the second one
// these zero points, and each other one four bytes of each column, signed, one behind the other.
// What is missing of the last four, and of the last panel, is 0.
#pragma once

#include "intarsia/checked_int.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/gemm/typed.h"

namespace intarsia::cpu {

/// Lines of a panel in front of its bytes.
inline constexpr int64_t kByteTerms = 2;

/// Groups of four that k bytes take.
constexpr int64_t quads_of(int64_t k) {
  return k / 4 + (k % 4 != 0 ? 1 : 0);
}
/// Words of a panel.
constexpr int64_t byte_panel_words(int64_t k) {
  return (quads_of(k) + kByteTerms) * kPanel;
}
/// Bytes that packing n columns takes, for weights that are not proved to be there yet.
inline CheckedInt byte_panel_bytes(int64_t k, int64_t n) {
  return CheckedInt(panel_count(n)) * byte_panel_words(k) * sizeof(uint32_t);
}

/// Packs n columns of k bytes, each of them a row of memory. `flip` is 0x80 where they are
/// unsigned; a column has the zero point at the same place of `zeros`.
void pack_byte_panels(const uint8_t* b, int64_t k, int64_t n, uint8_t flip, const uint8_t* zeros,
                      uint32_t* packed);

struct ByteProduct {
  ptrdiff_t rows;
  ptrdiff_t panels;
  ptrdiff_t quads;
  const uint32_t* a;  ///< Quads of bytes, rows a_pitch apart; 0 where there are none.
  ptrdiff_t a_pitch;
  const uint32_t* a_sums;  ///< Of the bytes of each row.
  uint32_t a_zero;
  const uint32_t* b;
  uint32_t* c;  ///< Rows of whole panels.
  ptrdiff_t c_pitch;
};

void multiply_bytes(const ByteProduct& product, Isa isa);

/// The same for one instruction set, with bytes taken in groups S; defined in typed_<isa>.cpp.
template <Isa I, class S>
struct BytePanels {
  static void multiply(const ByteProduct& product);
};

}  // namespace intarsia::cpu
