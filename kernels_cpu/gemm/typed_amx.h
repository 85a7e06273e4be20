// SPDX-License-Identifier: Apache-2.0
//
// Blocks of products of quads by tiles of AMX. Lines of A and panels of B are read as they are
// packed for the tiles of AVX-512 (typed_kernels.h): a panel is two tiles wide.
//
// All tiles of a call have one shape, as large as divides the work evenly; the last ones reach back
// over what has been multiplied before: of rows that are not stored, of quads that count as 0.
//
// Included by typed_avx512.cpp only.
#pragma once

#include "kernels_cpu/gemm/amx_tiles.h"
#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/typed_quads.h"

namespace intarsia::cpu {

template <>
struct QuadBlocks<Isa::kAmx> {
  using Tiles = AmxTiles<Isa::kAmx>;
  static constexpr ptrdiff_t kWidth = kTypedPanelBytes / sizeof(ByteQuad);
  static_assert(kWidth == 2 * kPanel);

  const QuadBlock& x;
  ptrdiff_t rows, quads;  ///< Of a tile of A.

  explicit QuadBlocks(const QuadBlock& block)
      : x(block),
        rows(ceil_div(block.rows, ceil_div(block.rows, kTileRows))),
        quads(ceil_div(block.k, ceil_div(block.k, kTileQuads))) {}

  static void multiply(const QuadBlock& block) {
    const QuadBlocks job(block);
    Tiles::configure(job.rows, job.quads);
    const ptrdiff_t tiles = ceil_div(block.rows, job.rows);
    ptrdiff_t tile = 0;
    for (; tile + 2 <= tiles; tile += 2) job.multiply_rows<2>(tile);
    if (tile < tiles) job.multiply_rows<1>(tile);
    Tiles::release();
  }

 private:
  /// A tile of rows of A.
  struct Rows {
    const uint32_t* a;
    ptrdiff_t first, done;  ///< The first `done` rows are another tile's, too.
    alignas(64) uint32_t last[kTileRows * kTileQuads];
  };

  ptrdiff_t last_quads() const { return (ceil_div(x.k, quads) - 1) * quads; }

  void find(ptrdiff_t tile, Rows& of) const {
    of.first = min(tile * rows, x.rows - rows);
    of.done = tile * rows - of.first;
    of.a = x.a + of.first * kQuadPitch;
    const ptrdiff_t from = x.k - quads;
    const auto some = static_cast<__mmask16>(bits_below(quads) & ~bits_below(last_quads() - from));
    for (ptrdiff_t r = 0; r < rows; ++r) {
      _mm512_store_si512(of.last + r * kTileQuads,
                         _mm512_maskz_loadu_epi32(some, of.a + r * kQuadPitch + from));
    }
  }

  /// R tiles of rows, R <= 2, by all panels.
  template <int R>
  void multiply_rows(ptrdiff_t tile) const {
    Rows of[R];
    for (int r = 0; r < R; ++r) find(tile + r, of[r]);
    for (ptrdiff_t column = 0; column < x.n; column += kWidth) {
      if (x.n - column > kPanel) {
        multiply<R, 2>(of, column);
      } else {
        multiply<R, 1>(of, column);
      }
    }
  }

  template <int R, int P>
  void multiply(const Rows (&of)[R], ptrdiff_t column) const {
    const uint32_t* b = x.b + column * x.k;
    Tiles::clear<kTileC>();
    if constexpr (P == 2) Tiles::clear<kTileC + 1>();
    if constexpr (R == 2) Tiles::clear<kTileC + 2>();
    if constexpr (R * P == 4) Tiles::clear<kTileC + 3>();
    for (ptrdiff_t k = 0; k < x.k; k += quads) {
      const bool whole = k + quads <= x.k;
      const uint32_t* lines = b + (whole ? k : x.k - quads) * kWidth;
      const auto load_a = [&]<int A>(std::integral_constant<int, A>, const Rows& from)
          __attribute__((always_inline)) {
        if (whole) {
          Tiles::load<A>(from.a + k, kQuadPitch * 4);
        } else {
          Tiles::load<A>(from.last, kTileQuads * 4);
        }
      };
      Tiles::load<kTileB>(lines, kWidth * 4);
      if constexpr (P == 2) Tiles::load<kTileB + 1>(lines + kPanel, kWidth * 4);
      load_a(std::integral_constant<int, kTileA>(), of[0]);
      Tiles::add<kTileC, kTileA, kTileB>();
      if constexpr (P == 2) Tiles::add<kTileC + 1, kTileA, kTileB + 1>();
      if constexpr (R == 1) continue;
      load_a(std::integral_constant<int, kTileA + 1>(), of[R - 1]);
      Tiles::add<kTileC + 2, kTileA + 1, kTileB>();
      if constexpr (P == 2) Tiles::add<kTileC + 3, kTileA + 1, kTileB + 1>();
    }
    alignas(64) uint32_t sums[R][kTileRows * kWidth];
    Tiles::store<kTileC>(sums[0], kWidth * 4);
    if constexpr (P == 2) Tiles::store<kTileC + 1>(sums[0] + kPanel, kWidth * 4);
    if constexpr (R == 2) Tiles::store<kTileC + 2>(sums[1], kWidth * 4);
    if constexpr (R * P == 4) Tiles::store<kTileC + 3>(sums[1] + kPanel, kWidth * 4);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < P; ++v) add_terms(of[r], column + v * kPanel, sums[r] + v * kPanel);
    }
  }

  /// C = sums, or += , and what the zero points add to them (typed_quads.h).
  void add_terms(const Rows& of, ptrdiff_t column, const uint32_t* sums) const {
    QuadVector b_sums, b_zeros;
    std::memcpy(&b_sums, x.b_terms.sums + column, sizeof b_sums);
    std::memcpy(&b_zeros, x.b_terms.zeros + column, sizeof b_zeros);
    const auto some = static_cast<__mmask16>(bits_below(x.n - column));
    const auto bytes = static_cast<uint32_t>(kGroup<ByteQuad> * x.k);
    const bool zeros = _mm512_test_epi32_mask((__m512i)b_zeros, (__m512i)b_zeros) != 0;
    for (ptrdiff_t r = of.done; r < rows; ++r) {
      const ptrdiff_t row = of.first + r;
      uint32_t* to = x.c + row * x.c_pitch + column;
      QuadVector sum;
      std::memcpy(&sum, sums + r * kWidth, sizeof sum);
      const uint32_t zero = x.a_terms.zeros[row];
      sum -= zero * b_sums;
      if (zeros) sum += (bytes * zero - x.a_terms.sums[row]) * b_zeros;
      if (!x.start) sum += (QuadVector)_mm512_maskz_loadu_epi32(some, to);
      _mm512_mask_storeu_epi32(to, some, (__m512i)sum);
    }
  }
};

}  // namespace intarsia::cpu
