// SPDX-License-Identifier: Apache-2.0
//
// Products with few columns or short sums: packing A would take longer than the product, so that it
// is read where it lies, and the ends of tiles are what counts. Columns that fill no vector are
// those of shorter vectors, of which a second one overlaps the first. Sums are loaded before the
// first is stored.
//
// Included by typed_tile.h only, which says who may include that.
#pragma once

#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/gemm/typed_lanes.h"

namespace intarsia::cpu {

/// R rows by `Vectors` vectors of L columns, the last of which begins at column `last`.
template <class V, int L, int Vectors, int R>
INTARSIA_INLINE void narrow_tile(const TypedNarrow<V>& t, const V* a, const V* b, const V* from,
                                 V* to, ptrdiff_t last) {
  using X = std::conditional_t<L == 1, V, typename VectorOfType<V, L>::Type>;
  X acc[R][Vectors] = {};
  if (from != nullptr) {
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      INTARSIA_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        std::memcpy(&acc[r][v], from + r * t.from_pitch + v * last, sizeof(X));
      }
    }
  }
  const V* rows[R];
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) rows[r] = a + r * t.a.lane_step;
  ptrdiff_t at = 0;
  for (ptrdiff_t k = t.k; k > 0; --k, at += t.a.k_step, b += t.b_step) {
    X bv[Vectors];
    INTARSIA_UNROLL
    for (int v = 0; v < Vectors; ++v) std::memcpy(&bv[v], b + v * last, sizeof(X));
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      const X av = rows[r][at] - X{};
      INTARSIA_UNROLL
      for (int v = 0; v < Vectors; ++v) acc[r][v] += av * bv[v];
    }
  }
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    INTARSIA_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      std::memcpy(to + r * t.sums_pitch + v * last, &acc[r][v], sizeof(X));
    }
  }
}

/// Rows from `row` on, as long as there are R, of the vectors from column `column` on.
template <Isa I, class V, int L, int Vectors, int R>
void narrow_rows(const TypedNarrow<V>& job, ptrdiff_t row, ptrdiff_t column, ptrdiff_t last) {
  const TypedNarrow<V> t = job;  // not read anew behind every store
  const V* b = t.b_at(column, panel_width<I, V>());
  for (; row + R <= t.rows; row += R) {
    narrow_tile<V, L, Vectors, R>(t, t.a.data + row * t.a.lane_step, b, t.from_at(row, column),
                                  t.sums + row * t.sums_pitch + column, last);
  }
}

/// All columns up to `end` of such rows, row by row as memory has them.
template <Isa I, class V, int L, int R>
void narrow_whole(const TypedNarrow<V>& job, ptrdiff_t row, ptrdiff_t end) {
  const TypedNarrow<V> t = job;
  for (; row + R <= t.rows; row += R) {
    const V* a = t.a.data + row * t.a.lane_step;
    for (ptrdiff_t column = 0; column < end; column += 2 * L) {
      narrow_tile<V, L, 2, R>(t, a, t.b_at(column, panel_width<I, V>()), t.from_at(row, column),
                              t.sums + row * t.sums_pitch + column, L);
    }
  }
}

/// Enough sums at a time that they do not wait for one another.
template <Isa I, class V, int L, int Vectors>
void narrow_columns(const TypedNarrow<V>& job, ptrdiff_t column, ptrdiff_t last) {
  constexpr int kRows = 8 / Vectors;
  narrow_rows<I, V, L, Vectors, kRows>(job, 0, column, last);
  narrow_rows<I, V, L, Vectors, 1>(job, job.rows / kRows * kRows, column, last);
}

/// The columns from `column` on, fewer than two vectors of L.
template <Isa I, class V, int L>
void narrow_rest(const TypedNarrow<V>& job, ptrdiff_t column) {
  const ptrdiff_t left = job.n - column;
  if (left > L) {
    narrow_columns<I, V, L, 2>(job, column, left - L);
  } else if (left == L) {
    narrow_columns<I, V, L, 1>(job, column, 0);
  } else if constexpr (L > 1) {
    narrow_rest<I, V, L / 2>(job, column);
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::narrow([[maybe_unused]] const TypedNarrow<Computed<S>>& job) {
  if constexpr (kReadsInPlace<S>) {
    constexpr int kWidth = TypedVector<I, S>::kWidth, kBoth = 2 * kWidth;
    static_assert(panel_width<I, S>() % kBoth == 0);
    const ptrdiff_t whole = job.n / kBoth * kBoth;
    if (whole == kBoth) {
      narrow_columns<I, S, kWidth, 2>(job, 0, kWidth);
    } else if (whole > 0) {
      narrow_whole<I, S, kWidth, 4>(job, 0, whole);
      narrow_whole<I, S, kWidth, 1>(job, job.rows / 4 * 4, whole);
    }
    narrow_rest<I, S, kWidth>(job, whole);
  }
}

}  // namespace intarsia::cpu
