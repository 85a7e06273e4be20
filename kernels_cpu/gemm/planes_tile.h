// SPDX-License-Identifier: Apache-2.0
//
// The micro-kernel of planes.h: R filters by Y rows by V vectors of columns, all sums in registers.
//
// Included by kernels_<isa>.cpp only.
#pragma once

#include "kernels_cpu/gemm/tile.h"

namespace intarsia::cpu {

/// Vectors of sums: most of the registers.
template <Isa I>
inline constexpr int kPlaneSums = I == Isa::kAvx512 || I == Isa::kNeon ? 24
                                  : I == Isa::kAvx2                    ? 12
                                                                       : 9;
/// Filters of the tile of the most vectors.
template <Isa I>
inline constexpr int kPlaneRows = I == Isa::kPortable ? 3 : 6;

/// Filters of the tile for few columns.
template <Isa I>
inline constexpr int kNarrowPlaneRows = I == Isa::kAvx512 ? 12 : kPlaneRows<I>;

/// Whether there are registers for rows of the input as well.
template <Isa I>
inline constexpr bool kKeepsRows = kPlaneSums<I> >= 24;

/// Operands at the first filter, row and column of a tile.
struct PlaneTile {
  const float* input;
  const float* weights;
  float* output;
  const float* residual;
  const float* bias;
  int columns;  ///< More than V - 1 vectors.
};

/// sums += the windows of Y rows of R filters, tap by tap.
template <Isa I, int R, int Y, int V, class F = typename IsaVector<I>::F>
INTARSIA_INLINE void add_plane_taps(const PlaneBlock& b, const PlaneTile& at, F (&sums)[R][Y][V]) {
  using Vec = IsaVector<I>;
  const float* weights = at.weights;
  const ptrdiff_t* tap = b.taps;
  for (ptrdiff_t k = b.k; k > 0; --k, ++tap, weights += b.weights_pitch) {
    const float* x = at.input + *tap;
    INTARSIA_UNROLL
    for (int y = 0; y < Y; ++y, x += b.input_row_pitch) {
      F xv[V];
      INTARSIA_UNROLL
      for (int v = 0; v < V; ++v) xv[v] = Vec::load(x + v * Vec::kWidth);
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) {
        const F w = VecMath<Vec>::splat(weights[r]);
        INTARSIA_UNROLL
        for (int v = 0; v < V; ++v) sums[r][y][v] += w * xv[v];
      }
    }
  }
}

/// The same of a single filter, by columns of taps. A row of taps sees what the one `tap_row_step`
/// above it saw in the row below: each row of the input is loaded once for all of them, and kept.
template <Isa I, int Y, int V, class F = typename IsaVector<I>::F>
INTARSIA_INLINE void add_plane_windows(const PlaneBlock& b, const PlaneTile& at, F (&sums)[Y][V]) {
  using Vec = IsaVector<I>;
  const auto load_row = [&](ptrdiff_t tap, int y, F(&row)[V]) __attribute__((always_inline)) {
    const float* x = at.input + b.taps[tap] + y * b.input_row_pitch;
    INTARSIA_UNROLL
    for (int v = 0; v < V; ++v) row[v] = Vec::load(x + v * Vec::kWidth);
  };
  const ptrdiff_t window = b.tap_rows * b.tap_columns, step = b.tap_row_step * b.tap_columns;
  for (ptrdiff_t first = 0; first < b.k; first += window) {
    for (ptrdiff_t column = first; column < first + b.tap_columns; ++column) {
      for (ptrdiff_t start = column; start < column + step; start += b.tap_columns) {
        F rows[Y][V];
        INTARSIA_UNROLL
        for (int y = 0; y < Y - 1; ++y) load_row(start, y, rows[y]);
        for (ptrdiff_t tap = start; tap < first + window; tap += step) {
          load_row(tap, Y - 1, rows[Y - 1]);
          const F w = VecMath<Vec>::splat(at.weights[tap * b.weights_pitch]);
          INTARSIA_UNROLL
          for (int y = 0; y < Y; ++y) {
            INTARSIA_UNROLL
            for (int v = 0; v < V; ++v) {
              sums[y][v] += w * rows[y][v];
              if (y > 0) rows[y - 1][v] = rows[y][v];
            }
          }
        }
      }
    }
  }
}

/// R filters by Y rows.
template <Isa I, int R, int Y, int V>
void plane_tile(const PlaneBlock& b, const PlaneTile& at) {
  using Vec = IsaVector<I>;
  using F = typename Vec::F;
  using M = VecMath<Vec>;
  constexpr int kWidth = Vec::kWidth;
  const int last = at.columns - (V - 1) * kWidth;  // of the last vector
  const bool all = last >= kWidth && !Vec::kMasked;
  const auto load = [&](const float* p, int v) __attribute__((always_inline)) {
    return v < V - 1 || all ? Vec::load(p) : Vec::load_part(p, last);
  };
  const auto place = [&](int r, int y, int v) __attribute__((always_inline)) {
    return r * b.output_plane_pitch + y * b.output_row_pitch + v * kWidth;
  };

  F acc[R][Y][V];
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    const F bias = M::splat(b.start && at.bias != nullptr ? at.bias[r] : 0.0f);
    INTARSIA_UNROLL
    for (int i = 0; i < Y * V; ++i) acc[r][i / V][i % V] = bias;
  }
  if (const float* terms = b.start ? at.residual : at.output; terms != nullptr) {
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      INTARSIA_UNROLL
      for (int y = 0; y < Y; ++y) {
        INTARSIA_UNROLL
        for (int v = 0; v < V; ++v) acc[r][y][v] += load(terms + place(r, y, v), v);
      }
    }
  }

  if constexpr (R == 1 && kKeepsRows<I>) {
    add_plane_windows<I>(b, at, acc[0]);
  } else {
    add_plane_taps<I>(b, at, acc);
  }

  const F lower = M::splat(b.lower), upper = M::splat(b.upper);
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    INTARSIA_UNROLL
    for (int y = 0; y < Y; ++y) {
      INTARSIA_UNROLL
      for (int v = 0; v < V; ++v) {
        const F sum = M::min(M::max(acc[r][y][v], lower), upper);
        float* p = at.output + place(r, y, v);
        if (v < V - 1 || all) {
          Vec::store(p, sum);
        } else {
          Vec::store_part(p, sum, last);
        }
      }
    }
  }
}

/// Vectors of columns of the widest tile of R filters by Y rows.
template <Isa I, int R, int Y>
inline constexpr int kPlaneVectors = Y == 8                  ? 1
                                     : R == 1                ? 2
                                     : kPlaneSums<I> / R < 4 ? kPlaneSums<I> / R
                                                             : 4;

/// The tile of as many vectors as there are columns for, up to V.
template <Isa I, int R, int Y, int V>
INTARSIA_INLINE void plane_tile_of(const PlaneBlock& b, const PlaneTile& at) {
  if constexpr (V > 1) {
    if (at.columns <= (V - 1) * IsaVector<I>::kWidth) {
      return plane_tile_of<I, R, Y, V - 1>(b, at);
    }
  }
  plane_tile<I, R, Y, V>(b, at);
}

/// Y rows of R filters.
template <Isa I, int R, int Y>
INTARSIA_INLINE void plane_rows(const PlaneBlock& b, ptrdiff_t filter, ptrdiff_t y) {
  using Vec = IsaVector<I>;
  constexpr int kVectors = kPlaneVectors<I, R, Y>;
  constexpr int kColumns = kVectors * Vec::kWidth;
  const ptrdiff_t to = filter * b.output_plane_pitch + y * b.output_row_pitch;
  for (ptrdiff_t x = 0; x < b.columns; x += kColumns) {
    const ptrdiff_t left = b.columns - x;
    plane_tile_of<I, R, Y, kVectors>(
        b, {.input = b.input + y * b.input_row_pitch + x,
            .weights = b.weights + filter,
            .output = b.output + to + x,
            .residual = b.residual != nullptr ? b.residual + to + x : nullptr,
            .bias = b.bias != nullptr ? b.bias + filter : nullptr,
            .columns = static_cast<int>(left < kColumns ? left : kColumns)});
  }
}

/// Rows from `y` on of a single filter. A tile takes several, so that there are enough chains of
/// sums for none to wait, and rows of the input that several of them see: Y rows, then fewer.
template <Isa I, int Y>
INTARSIA_INLINE void plane_rows_of_one(const PlaneBlock& b, ptrdiff_t filter, ptrdiff_t y) {
  for (; y + Y <= b.rows; y += Y) plane_rows<I, 1, Y>(b, filter, y);
  if constexpr (Y > 1) {
    if (y < b.rows) plane_rows_of_one<I, Y / 2>(b, filter, y);
  }
}

/// R filters at a time from `first` on, then fewer.
template <Isa I, int R>
void plane_filters(const PlaneBlock& b, ptrdiff_t first) {
  for (; b.filters - first >= R; first += R) {
    if constexpr (R > 1) {
      for (ptrdiff_t y = 0; y < b.rows; ++y) plane_rows<I, R, 1>(b, first, y);
    } else if (b.columns <= IsaVector<I>::kWidth) {
      plane_rows_of_one<I, 8>(b, first, 0);
    } else {
      plane_rows_of_one<I, 4>(b, first, 0);
    }
  }
  if constexpr (R > 1) {
    constexpr int kFewer = R > 8 ? 8 : R > 4 ? 4 : R > 2 ? 2 : 1;
    if (first < b.filters) plane_filters<I, kFewer>(b, first);
  }
}

template <Isa I>
void Microkernels<I>::planes(const PlaneBlock& block) {
  constexpr int kRows = kPlaneRows<I>, kNarrowRows = kNarrowPlaneRows<I>;
  // More vectors than filters in a tile: fewer are loaded for each of their products.
  if (kRows != kNarrowRows &&
      block.columns <= kPlaneVectors<I, kNarrowRows, 1> * IsaVector<I>::kWidth) {
    return plane_filters<I, kNarrowRows>(block, 0);
  }
  plane_filters<I, kRows>(block, 0);
}

}  // namespace intarsia::cpu
