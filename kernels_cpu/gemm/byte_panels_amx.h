// SPDX-License-Identifier: Apache-2.0
//
// The products of byte_panels.h by tiles of AMX: 16 rows of 64 bytes by 16 lines of a panel. Lines
// of a panel are what the instruction takes of B. Rows of A are read where they lie if they are the
// same distance apart, else side by side from a copy of 1 KiB.
//
// All tiles of a call have one shape, as large as divides the work evenly; the last ones reach back
// over what has been multiplied before: rows are computed again, and bytes count as 0.
//
// Included by typed_avx512.cpp only.
#pragma once

#include "kernels_cpu/gemm/amx_tiles.h"
#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

template <Isa I>
struct ByteTiles;

template <>
struct ByteTiles<Isa::kAmx> : AmxTiles<Isa::kAmx> {
  /// One call of `multiply`.
  struct Job {
    const ByteProduct& p;
    ptrdiff_t rows, quads, panel;  ///< Of a tile of A; words of a panel of B.

    explicit Job(const ByteProduct& product)
        : p(product),
          rows(ceil_div(p.rows, ceil_div(p.rows, kTileRows))),
          quads(ceil_div(p.runs.quads, ceil_div(p.runs.quads, kTileQuads))),
          panel(static_cast<ptrdiff_t>(byte_panel_words(p.runs.all_quads()))) {}

    /// The rows of a tile of A.
    struct Rows {
      const uint8_t* const* at;
      ptrdiff_t first, pitch;
      bool evenly;  ///< `pitch` bytes apart.
    };
    Rows rows_of(ptrdiff_t tile) const {
      const ptrdiff_t first = tile * rows < p.rows - rows ? tile * rows : p.rows - rows;
      Rows of{p.a + first, first, rows > 1 ? p.a[first + 1] - p.a[first] : 0, true};
      for (ptrdiff_t r = 2; r < rows; ++r) {
        of.evenly = of.evenly && of.at[r] - of.at[r - 1] == of.pitch;
      }
      return of;
    }

    template <int A>
    INTARSIA_INLINE void load_a(const Rows& of, ptrdiff_t place, ptrdiff_t done) const {
      if (of.evenly && done == 0) return load<A>(of.at[0] + place, of.pitch);
      alignas(64) uint8_t lines[kTileRows * 64];
      const __mmask64 some = bits_below(4 * quads) & ~bits_below(4 * done);
      for (ptrdiff_t r = 0; r < rows; ++r) {
        _mm512_store_si512(lines + 64 * r, _mm512_maskz_loadu_epi8(some, of.at[r] + place));
      }
      load<A>(lines, 64);
    }

    /// Takes what the zero points add from the sums of these rows.
    template <int P>
    void subtract_terms(const Rows& of, const uint32_t* b, uint32_t* c) const {
      INTARSIA_UNROLL
      for (ptrdiff_t v = 0; v < P; ++v) {
        QuadVector of_columns, zeros;
        std::memcpy(&of_columns, b + v * panel, sizeof of_columns);
        std::memcpy(&zeros, b + v * panel + kPanel, sizeof zeros);
        of_columns *= p.a_zero;
        for (ptrdiff_t r = 0; r < rows; ++r) {
          uint32_t* to = c + r * p.c_pitch + v * kPanel;
          QuadVector sum;
          std::memcpy(&sum, to, sizeof sum);
          sum -= of_columns;
          if (p.a_sums != nullptr) sum -= p.a_sums[of.first + r] * zeros;
          std::memcpy(to, &sum, sizeof sum);
        }
      }
    }

    /// R tiles of rows, R <= 2, by P panels.
    template <int R, int P>
    void multiply(ptrdiff_t tile, const uint32_t* b, uint32_t* to) const {
      const Rows of[2] = {rows_of(tile), rows_of(tile + R - 1)};
      uint32_t* c[2] = {to + of[0].first * p.c_pitch, to + of[1].first * p.c_pitch};
      const ptrdiff_t c_pitch = p.c_pitch * 4;
      const bool terms = p.a_zero != 0 || p.a_sums != nullptr;
      const uint32_t* const first_line = b;
      clear<kTileC>();
      if constexpr (P == 2) clear<kTileC + 1>();
      if constexpr (R == 2) clear<kTileC + 2>();
      if constexpr (R * P == 4) clear<kTileC + 3>();
      b += kByteTerms * kPanel;
      const ByteRuns& runs = p.runs;
      for (ptrdiff_t i = 0; i < runs.counts[0]; ++i) {
        for (ptrdiff_t j = 0; j < runs.counts[1]; ++j) {
          for (ptrdiff_t l = 0; l < runs.counts[2]; ++l, b += runs.quads * kPanel) {
            const ptrdiff_t run = i * runs.steps[0] + j * runs.steps[1] + l * runs.steps[2];
            for (ptrdiff_t k = 0; k < runs.quads; k += quads) {
              const ptrdiff_t last = runs.quads - quads, first = k < last ? k : last;
              const ptrdiff_t done = k - first;
              load<kTileB>(b + first * kPanel, 64);
              if constexpr (P == 2) load<kTileB + 1>(b + panel + first * kPanel, 64);
              load_a<kTileA>(of[0], run + 4 * first, done);
              add<kTileC, kTileA, kTileB>();
              if constexpr (P == 2) add<kTileC + 1, kTileA, kTileB + 1>();
              if constexpr (R == 1) continue;
              load_a<kTileA + 1>(of[1], run + 4 * first, done);
              add<kTileC + 2, kTileA + 1, kTileB>();
              if constexpr (P == 2) add<kTileC + 3, kTileA + 1, kTileB + 1>();
            }
          }
        }
      }
      store<kTileC>(c[0], c_pitch);
      if constexpr (P == 2) store<kTileC + 1>(c[0] + kPanel, c_pitch);
      if (terms) subtract_terms<P>(of[0], first_line, c[0]);
      if constexpr (R == 2) {  // which may reach back over rows of the first: as a whole behind it
        store<kTileC + 2>(c[1], c_pitch);
        if constexpr (P == 2) store<kTileC + 3>(c[1] + kPanel, c_pitch);
        if (terms) subtract_terms<P>(of[1], first_line, c[1]);
      }
    }

    template <int P>
    void multiply_panels(const uint32_t* b, uint32_t* to) const {
      const ptrdiff_t tiles = ceil_div(p.rows, rows);
      ptrdiff_t tile = 0;
      for (; tile + 2 <= tiles; tile += 2) multiply<2, P>(tile, b, to);
      if (tile < tiles) multiply<1, P>(tile, b, to);
    }
  };
};

template <class S>
struct BytePanels<Isa::kAmx, S> {
  static void multiply(const ByteProduct& product) {
    const ByteTiles<Isa::kAmx>::Job job(product);
    ByteTiles<Isa::kAmx>::configure(job.rows, job.quads);
    ptrdiff_t panel = 0;
    for (; panel + 2 <= product.panels; panel += 2) {
      job.multiply_panels<2>(product.b + panel * job.panel, product.c + panel * kPanel);
    }
    if (panel < product.panels) {
      job.multiply_panels<1>(product.b + panel * job.panel, product.c + panel * kPanel);
    }
    ByteTiles<Isa::kAmx>::release();
  }
};

}  // namespace intarsia::cpu
