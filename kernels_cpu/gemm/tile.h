// SPDX-License-Identifier: Apache-2.0
//
// The tile of microkernel.h as a template: R rows by P panels, all of it in registers.
//
// Included by kernels_<isa>.cpp only; `Vec` is an IsaVector (vector.h).
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "kernels_cpu/gemm/microkernel.h"
#include "kernels_cpu/gemm/vec_math.h"

// Accumulator arrays live in registers only if every loop over them is unrolled. Where a vector is
// one float, the loops before and after the sums are not: they would be most of a small program,
// and there the sums are as well read from memory.
#if defined(__clang__)
#define INTARSIA_UNROLL _Pragma("clang loop unroll(full)")
#define INTARSIA_ROLL _Pragma("clang loop unroll(disable)")
#else
#define INTARSIA_UNROLL _Pragma("GCC unroll 64")
#define INTARSIA_ROLL _Pragma("GCC unroll 1")
#endif
#if INTARSIA_HAS_VECTORS
#define INTARSIA_UNROLL_ENDS INTARSIA_UNROLL
#else
#define INTARSIA_UNROLL_ENDS INTARSIA_ROLL
#endif

namespace intarsia::cpu {

/// Adds the products of all taps to kUsed of the kVectors vectors of each row.
template <class Vec, int R, int kVectors, int kUsed>
INTARSIA_INLINE void add_products(const Tile& t, typename Vec::F (&acc)[R][kVectors]) {
  using F = typename Vec::F;
  constexpr int kWidth = Vec::kWidth;
  constexpr int kParts = kPanel / kWidth;
  const float* b = t.b;
  const ptrdiff_t panel = t.b_panel_pitch;
  const char* ahead = reinterpret_cast<const char*>(t.prefetch);
  const ptrdiff_t ahead_step = t.prefetch_step;
  const float* const* rows = t.rows;
  for (ptrdiff_t tap = t.taps; tap > 0; --tap, rows += t.row_pitch) {
    // Rows are indexed from their end, so that the index also counts: one register less.
    const float* ends[R];
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) ends[r] = rows[r] + t.row_offset + t.k;
    for (ptrdiff_t k = -t.k; k != 0; ++k, b += kPanel) {
      if constexpr (R >= 6 || (R >= 4 && kVectors <= 2 * kParts)) {
        __builtin_prefetch(ahead, 0, 2);
        ahead += ahead_step;
      }
      F bv[kUsed];
      INTARSIA_UNROLL
      for (int v = 0; v < kUsed; ++v) {
        bv[v] = Vec::load(b + (v / kParts) * panel + (v % kParts) * kWidth);
      }
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) {
        const F av = VecMath<Vec>::splat(ends[r][k]);
        INTARSIA_UNROLL
        for (int v = 0; v < kUsed; ++v) acc[r][v] += av * bv[v];
      }
    }
  }
}

/// A copy of a field, or the field.
template <class T>
struct Kept {
  using Type = std::conditional_t<INTARSIA_HAS_VECTORS != 0, T, T&>;
};

template <class Vec, int R, int P>
void tile(const Tile& t) {
  using F = typename Vec::F;
  constexpr int kWidth = Vec::kWidth;
  constexpr int kParts = kPanel / kWidth;  // Vectors of a panel.
  constexpr int kVectors = P * kParts;
  // Not read from the tile anew behind every store, which might have changed it, but where code
  // counts for more than time.
  typename Kept<const ptrdiff_t>::Type n = t.n, c_pitch = t.c_pitch;
  typename Kept<float* const>::Type c = t.c;
  const bool all = n >= P * kPanel;
  // Only the last panel can lack columns.
  const auto whole = [&](int v) { return v < kVectors - kParts || (all && !Vec::kMasked); };
  const auto valid = [&](int v) { return static_cast<int>(n) - v * kWidth; };

  F acc[R][kVectors];
  INTARSIA_UNROLL_ENDS
  for (int v = 0; v < kVectors; ++v) {
    F bias{};
    if (t.bias) {
      const float* p = t.bias + v * kWidth;
      bias = whole(v) ? Vec::load(p) : Vec::load_part(p, valid(v));
    }
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) acc[r][v] = bias;
  }
  if (t.residual) {
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      INTARSIA_UNROLL_ENDS
      for (int v = 0; v < kVectors; ++v) {
        const float* p = t.residual + r * t.residual_pitch + v * kWidth;
        acc[r][v] += whole(v) ? Vec::load(p) : Vec::load_part(p, valid(v));
      }
    }
  }

  // Where columns fill no more than half a panel, as small groups of a convolution do, the other
  // half is left out. Tiles of fewer rows lie at the edges, and do without the text of a second
  // loop.
  if constexpr (P == 1 && R >= 6 && kParts > 1) {
    if (t.n <= kPanel / 2) {
      add_products<Vec, R, kVectors, kParts / 2>(t, acc);
    } else {
      add_products<Vec, R, kVectors, kVectors>(t, acc);
    }
  } else {
    add_products<Vec, R, kVectors, kVectors>(t, acc);
  }

  using M = VecMath<Vec>;
  const F lower = M::splat(t.epilogue->lower);
  const F upper = M::splat(t.epilogue->upper);
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    INTARSIA_UNROLL_ENDS
    for (int v = 0; v < kVectors; ++v) {
      const F y = M::min(M::max(acc[r][v], lower), upper);
      float* p = c + r * c_pitch + v * kWidth;
      if (whole(v)) {
        Vec::store(p, y);
      } else {
        Vec::store_part(p, y, valid(v));
      }
    }
  }
  if (t.epilogue->activate != nullptr) {
    t.epilogue->activate(t.epilogue->spec, c, c_pitch, R, all ? P * kPanel : n);
  }
}

/// The family of P panels and 1 to R rows; R, up to kMaxTileRows, is a constant of the family.
template <class Vec, int P, int R>
struct TileTable {
  template <int Row>
  static constexpr TileFunction row() {
    if constexpr (Row <= R) {
      return &tile<Vec, Row, P>;
    } else {
      return nullptr;
    }
  }
  static constexpr TileFunction kRows[kMaxTileRows] = {row<1>(), row<2>(), row<3>(), row<4>(),
                                                       row<5>(), row<6>(), row<7>(), row<8>()};
  static constexpr TileFamily kFamily{P, R, kRows};
};

/// The families of instruction set I, in the order of TileKernels. kernels_<isa>.cpp specialises it
/// as one of the next.
template <Isa I>
struct IsaTiles;
template <class... Tables>
struct TileTables {
  static constexpr TileFamily kFamilies[] = {Tables::kFamily...};
  static constexpr int kMains = 1;
};

template <Isa I>
TileKernels Microkernels<I>::tiles() {
  constexpr int kCount = std::size(IsaTiles<I>::kFamilies);
  return {IsaTiles<I>::kMains, kCount, IsaTiles<I>::kFamilies};
}

template <Isa I>
void Microkernels<I>::activate(const ActivationSpec& spec, float* y, ptrdiff_t pitch,
                               ptrdiff_t rows, ptrdiff_t n) {
  activate_rows<IsaVector<I>>(spec, y, pitch, y, pitch, rows, n);
}

}  // namespace intarsia::cpu
