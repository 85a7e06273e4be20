// SPDX-License-Identifier: Apache-2.0
//
// The products of byte_panels.h by tiles of AMX: 16 rows of 64 bytes by 16 lines of a panel. Lines
// of a panel are what the instruction takes of B. Rows of A are read where they lie if they are the
// same distance apart, else side by side from a copy of 1 KiB, which takes three times as long.
//
// The last step of a run reaches back where its bytes do not divide evenly: those of A that have
// been multiplied count as 0.
//
// Included by typed_avx512.cpp only.
#pragma once

#include <utility>

#include "kernels_cpu/gemm/amx_tiles.h"
#include "kernels_cpu/gemm/byte_row_tiles.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

template <Isa I>
struct ByteTiles;

template <>
struct ByteTiles<Isa::kAmx> : AmxTiles<Isa::kAmx> {
  using Rows = ByteRowTiles<Isa::kAmx>;
  static constexpr ptrdiff_t kMostTaken = 2 * kTileRows * 2 * kPanel;

  /// The next lines of B, which come from memory while those before are multiplied.
  struct Ahead {
    const uint32_t* line;
    ptrdiff_t lines;  ///< To be fetched in a step.

    INTARSIA_INLINE void fetch() {
      for (ptrdiff_t i = 0; i < lines; ++i, line += kPanel) __builtin_prefetch(line, 0, 2);
    }
  };

  /// Some rows of a product.
  struct Job {
    /// Sums of some tiles and panels that a sink has not taken yet.
    struct Pending {
      ptrdiff_t tile, tiles = 0, first_panel, panels;
      uint32_t* sums;
    };

    const ByteProduct& p;
    const Rows& of;
    ptrdiff_t first_row;
    uint32_t* taken;  ///< Where sums lie until a sink has taken them; and the next ones.
    uint32_t* next;
    ptrdiff_t quads, panel;  ///< Of a tile of A; words of a panel of B.
    Pending pending;
    alignas(64) uint32_t starts[2 * kPanel];

    Job(const ByteProduct& product, const Rows& rows, ptrdiff_t first, uint32_t* scratch)
        : p(product),
          of(rows),
          first_row(first),
          taken(scratch),
          next(scratch + kMostTaken),
          quads(ceil_div(p.runs.quads, ceil_div(p.runs.quads, kTileQuads))),
          panel(static_cast<ptrdiff_t>(byte_panel_words(p.runs.all_quads()))) {}

    template <int A>
    INTARSIA_INLINE void load_a(const Rows::Tile& tile, ptrdiff_t place, ptrdiff_t done) const {
      if (tile.rows == nullptr && done == 0) return load<A>(tile.even + place, of.pitch);
      alignas(64) uint8_t lines[kTileRows * 64];
      const __mmask64 some = bits_below(4 * quads) & ~bits_below(4 * done);
      for (ptrdiff_t r = 0; r < of.height; ++r) {
        const uint8_t* row = tile.rows != nullptr ? tile.rows[r] : tile.even + r * of.pitch;
        _mm512_store_si512(lines + 64 * r, _mm512_maskz_loadu_epi8(some, row + place));
      }
      load<A>(lines, 64);
    }

    /// R tiles of rows, R <= 2, by P panels from `b` on.
    template <int R, int P>
    void multiply(const Rows::Tile* tile, const uint32_t* b, Ahead ahead) const {
      begin<kTileC>(0);
      if constexpr (P == 2) begin<kTileC + 1>(1);
      if constexpr (R == 2) begin<kTileC + 2>(0);
      if constexpr (R * P == 4) begin<kTileC + 3>(1);
      b += kByteTerms * kPanel;
      const ByteRuns& runs = p.runs;
      for (ptrdiff_t i = 0; i < runs.counts[0]; ++i) {
        for (ptrdiff_t j = 0; j < runs.counts[1]; ++j) {
          for (ptrdiff_t l = 0; l < runs.counts[2]; ++l, b += runs.quads * kPanel) {
            const ptrdiff_t run = i * runs.steps[0] + j * runs.steps[1] + l * runs.steps[2];
            for (ptrdiff_t k = 0; k < runs.quads; k += quads) {
              const ptrdiff_t first = min(k, runs.quads - quads), done = k - first;
              ahead.fetch();
              load<kTileB>(b + first * kPanel, 64);
              if constexpr (P == 2) load<kTileB + 1>(b + panel + first * kPanel, 64);
              load_a<kTileA>(tile[0], run + 4 * first, done);
              add<kTileC, kTileA, kTileB>();
              if constexpr (P == 2) add<kTileC + 1, kTileA, kTileB + 1>();
              if constexpr (R == 1) continue;
              load_a<kTileA + 1>(tile[R - 1], run + 4 * first, done);
              add<kTileC + 2, kTileA + 1, kTileB>();
              if constexpr (P == 2) add<kTileC + 3, kTileA + 1, kTileB + 1>();
            }
          }
        }
      }
    }

    /// Their sums become rows of P panels, one tile behind the other.
    template <int R, int P>
    void store_sums(uint32_t* to) const {
      constexpr ptrdiff_t kLine = P * 64;
      uint32_t* const lower = to + of.height * P * kPanel;
      store<kTileC>(to, kLine);
      if constexpr (P == 2) store<kTileC + 1>(to + kPanel, kLine);
      if constexpr (R == 2) store<kTileC + 2>(lower, kLine);
      if constexpr (R * P == 4) store<kTileC + 3>(lower + kPanel, kLine);
    }

    /// Where sums start: at what the zero point of A adds to those of each column.
    template <int P>
    void find_starts(const uint32_t* b) {
      for (ptrdiff_t v = 0; v < P; ++v) {
        QuadVector of_columns;
        std::memcpy(&of_columns, b + v * panel, sizeof of_columns);
        of_columns *= -p.a_zero;
        std::memcpy(starts + v * kPanel, &of_columns, sizeof of_columns);
      }
    }
    template <int C>
    INTARSIA_INLINE void begin(ptrdiff_t column) const {
      if (p.a_zero == 0) return clear<C>();
      load<C>(starts + column * kPanel, 0);
    }

    /// Takes what the zero points of B add from the sums of some rows. `b`: the first panel.
    template <int P>
    void subtract_terms(const Rows::Piece& piece, const uint32_t* b, uint32_t* c) const {
      INTARSIA_UNROLL
      for (ptrdiff_t v = 0; v < P; ++v) {
        QuadVector zeros;
        std::memcpy(&zeros, b + v * panel + kPanel, sizeof zeros);
        for (ptrdiff_t r = 0; r < piece.rows; ++r) {
          uint32_t* to = c + (r * P + v) * kPanel;
          QuadVector sum;
          std::memcpy(&sum, to, sizeof sum);
          sum -= p.a_sums[piece.row + r] * zeros;
          std::memcpy(to, &sum, sizeof sum);
        }
      }
    }

    void take(const ByteSums& sums) const {
      if (p.sink.take != nullptr) return p.sink.take(p.sink.context, sums);
      for (ptrdiff_t r = 0; r < sums.rows; ++r) {
        std::memcpy(p.c + (sums.row - first_row + r) * p.c_pitch + sums.panel * kPanel,
                    sums.sums + r * sums.pitch,
                    static_cast<size_t>(sums.panels * kPanel) * sizeof *p.c);
      }
    }

    template <int P>
    void take_sums(const Pending& some) const {
      const uint32_t* b = p.b + some.first_panel * panel;
      uint32_t* c = some.sums;
      for (ptrdiff_t r = 0; r < some.tiles; ++r, c += of.height * P * kPanel) {
        const Rows::Tile& rows = of.tiles[some.tile + r];
        for (int i = 0; i < rows.pieces; ++i) {
          const Rows::Piece& piece = of.pieces[rows.first_piece + i];
          uint32_t* sums = c + piece.first * P * kPanel;
          if (p.a_sums != nullptr) subtract_terms<P>(piece, b, sums);
          take({sums, P * kPanel, first_row + piece.row, piece.rows, some.first_panel, P});
        }
      }
    }

    /// While the tiles multiply, the sums of those before are taken.
    template <int R, int P>
    void multiply_tiles(ptrdiff_t tile, ptrdiff_t first_panel, const Ahead& ahead) {
      multiply<R, P>(of.tiles + tile, p.b + first_panel * panel, ahead);
      finish();
      std::swap(taken, next);
      store_sums<R, P>(taken);
      pending = {tile, R, first_panel, P, taken};
    }
    void finish() {
      if (pending.tiles == 0) return;
      if (pending.panels == 2) {
        take_sums<2>(pending);
      } else {
        take_sums<1>(pending);
      }
      pending.tiles = 0;
    }

    template <int P>
    void multiply_panels(ptrdiff_t first_panel) {
      find_starts<P>(p.b + first_panel * panel);
      const ptrdiff_t calls = ceil_div(of.count, 2);
      const ptrdiff_t steps = p.runs.all_quads() / p.runs.quads * ceil_div(p.runs.quads, quads);
      Ahead ahead{p.b + (first_panel + P) * panel,
                  p.streams ? ceil_div(P * panel / kPanel, calls * steps) : 0};
      ptrdiff_t tile = 0;
      for (; tile + 2 <= of.count; tile += 2) {
        multiply_tiles<2, P>(tile, first_panel, ahead);
        ahead.line += steps * ahead.lines * kPanel;
      }
      if (tile < of.count) multiply_tiles<1, P>(tile, first_panel, ahead);
    }
  };
};

template <class S>
struct BytePanels<Isa::kAmx, S> {
  static void multiply(const ByteProduct& all) {
    using Tiles = ByteTiles<Isa::kAmx>;
    alignas(64) uint32_t taken[2 * Tiles::kMostTaken];
    ByteProduct part = all;
    for (ptrdiff_t first = 0, rows; first < all.rows; first += rows) {
      rows = min(all.rows - first, Tiles::Rows::kMostRows);
      const Tiles::Rows of(part.a, rows);
      Tiles::Job job(part, of, first, taken);
      Tiles::configure(of.height, job.quads);
      ptrdiff_t panel = 0;
      for (; panel + 2 <= part.panels; panel += 2) job.multiply_panels<2>(panel);
      if (panel < part.panels) job.multiply_panels<1>(panel);
      job.finish();
      part.a += rows;
      if (part.a_sums != nullptr) part.a_sums += rows;
      if (part.c != nullptr) part.c += rows * part.c_pitch;
    }
    Tiles::release();
  }
};

}  // namespace intarsia::cpu
