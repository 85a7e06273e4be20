// SPDX-License-Identifier: Apache-2.0
//
// The tiles of byte_panels.h as templates over instruction set and groups of bytes.
//
// Quads are multiplied as they lie. Elsewhere each line becomes two of pairs, of the bytes at even
// and at odd places: of B by shifts that keep the sign, of A by masks.
//
// Included by typed_<isa>.cpp only, as typed_tile.h is.
#pragma once

#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

/// R rows by P panels, all of it in registers.
template <Isa I, class S, int R, int P>
void byte_tile(const ByteProduct& t) {
  using X = typename TypedVector<I, uint32_t>::X;
  constexpr int kWidth = TypedVector<I, uint32_t>::kWidth, kParts = kPanel / kWidth;
  constexpr int kVectors = P * kParts;
  const ptrdiff_t panel = (t.quads + kByteTerms) * kPanel;
  const auto line = [panel](const uint32_t* b, int v, X& to) __attribute__((always_inline)) {
    std::memcpy(&to, b + v / kParts * panel + v % kParts * kWidth, sizeof to);
  };
  X acc[R][kVectors];
  INTARSIA_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    X sums, zeros;
    line(t.b, v, sums);
    line(t.b + kPanel, v, zeros);
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) acc[r][v] = X{} - t.a_zero * sums - t.a_sums[r] * zeros;
  }
  const uint32_t* b = t.b + kByteTerms * kPanel;
  for (ptrdiff_t k = 0; k < t.quads; ++k, b += kPanel) {
    if constexpr (kQuads<S>) {
      X a[R];
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) a[r] = t.a[r * t.a_pitch + k] - X{};
      INTARSIA_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        X quads;
        line(b, v, quads);
        INTARSIA_UNROLL
        for (int r = 0; r < R; ++r) QuadProducts::add(acc[r][v], a[r], quads);
      }
    } else {
      using Shorts = typename VectorOfType<int16_t, 2 * kWidth>::Type;
      using Unsigned = typename VectorOfType<uint16_t, 2 * kWidth>::Type;
      // Two vectors at a time: their pairs, those of one row and all sums are 16 registers.
      constexpr int kTogether = kVectors < 2 ? 1 : 2;
      INTARSIA_UNROLL
      for (int first = 0; first < kVectors; first += kTogether) {
        X of_even[kTogether], of_odd[kTogether];
        INTARSIA_UNROLL
        for (int v = 0; v < kTogether; ++v) {
          X quads;
          line(b, first + v, quads);
          of_even[v] = (X)((Shorts)(quads << 8) >> 8);
          of_odd[v] = (X)((Shorts)quads >> 8);
        }
        INTARSIA_UNROLL
        for (int r = 0; r < R; ++r) {
          const Unsigned quad = (Unsigned)(t.a[r * t.a_pitch + k] - X{});
          const X even = (X)(quad & 0xff), odd = (X)(quad >> 8);
          INTARSIA_UNROLL
          for (int v = 0; v < kTogether; ++v) {
            PairProducts::add(acc[r][first + v], even, of_even[v]);
            PairProducts::add(acc[r][first + v], odd, of_odd[v]);
          }
        }
      }
    }
  }
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    INTARSIA_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(t.c + r * t.c_pitch + v * kWidth, &acc[r][v], sizeof(X));
    }
  }
}

/// All rows by P panels, up to R at a time.
template <Isa I, class S, int R, int P>
void byte_rows(ByteProduct job) {
  for (ptrdiff_t left = job.rows; left > 0;) {
    const int rows = left >= R ? R : left >= 2 ? 2 : 1;
    if (rows == R) {
      byte_tile<I, S, R, P>(job);
    } else if (rows == 2) {
      byte_tile<I, S, 2, P>(job);
    } else {
      byte_tile<I, S, 1, P>(job);
    }
    left -= rows;
    job.a += rows * job.a_pitch;
    job.a_sums += rows;
    job.c += rows * job.c_pitch;
  }
}

/// P panels at a time, then one by one.
template <Isa I, class S, int R, int P>
void byte_columns(ByteProduct job) {
  const ptrdiff_t panel = (job.quads + kByteTerms) * kPanel;
  for (ptrdiff_t left = job.panels; left > 0;) {
    const ptrdiff_t here = left >= P ? P : 1;
    if (here == P) {
      byte_rows<I, S, R, P>(job);
    } else {
      byte_rows<I, S, R, 1>(job);
    }
    left -= here;
    job.b += here * panel;
    job.c += here * kPanel;
  }
}

/// A single row needs many panels, so that sums do not wait for each other.
template <Isa I, class S>
void BytePanels<I, S>::multiply(const ByteProduct& product) {
  constexpr int kParts = kPanel / TypedVector<I, uint32_t>::kWidth;
  constexpr int kOneRow = 8 / (kParts * kParts), kPanels = 4 / (kParts * kParts);
  constexpr int kRows = kParts <= 2 ? 4 : 2;
  if (product.rows == 1) {
    byte_columns < I, S, 1, kOneRow<1 ? 1 : kOneRow>(product);
  } else {
    byte_columns < I, S, kRows, kPanels<1 ? 1 : kPanels>(product);
  }
}

}  // namespace intarsia::cpu
