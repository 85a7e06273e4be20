// SPDX-License-Identifier: Apache-2.0
//
// The micro-kernel of planes.h: R filters by Y rows by V vectors of columns, all sums in registers.
//
// Included by kernels_<isa>.cpp only; `Vec` is an IsaVector (vector.h).
#pragma once

#include "kernels_cpu/gemm/tile.h"

namespace intarsia::cpu {

/// Vectors of sums: most of the registers.
template <Isa I>
inline constexpr int kPlaneSums = I == Isa::kAvx512 || I == Isa::kNeon ? 24
                                  : I == Isa::kAvx2                    ? 12
                                                                       : 9;
/// Filters of the widest tile.
template <Isa I>
inline constexpr int kPlaneRows = I == Isa::kAvx512     ? 12
                                  : I == Isa::kPortable ? 3
                                                        : 6;

/// Operands at the first filter, row and column of a tile.
struct PlaneTile {
  const float* input;
  const float* weights;
  float* output;
  const float* residual;
  const float* bias;
  int columns;  ///< More than V - 1 vectors.
};

/// R filters by Y rows.
template <class Vec, int R, int Y, int V>
void plane_tile(const PlaneBlock& b, const PlaneTile& at) {
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

  const float* weights = at.weights;
  const ptrdiff_t* tap = b.taps;
  for (ptrdiff_t k = b.k; k > 0; --k, ++tap, weights += b.weights_pitch) {
    const float* x = at.input + *tap;
    if constexpr (Y == 1) {
      F xv[V];
      INTARSIA_UNROLL
      for (int v = 0; v < V; ++v) xv[v] = Vec::load(x + v * kWidth);
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) {
        const F w = M::splat(weights[r]);
        INTARSIA_UNROLL
        for (int v = 0; v < V; ++v) acc[r][0][v] += w * xv[v];
      }
    } else {
      F w[R];
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) w[r] = M::splat(weights[r]);
      INTARSIA_UNROLL
      for (int y = 0; y < Y; ++y, x += b.input_row_pitch) {
        INTARSIA_UNROLL
        for (int v = 0; v < V; ++v) {
          const F xv = Vec::load(x + v * kWidth);
          INTARSIA_UNROLL
          for (int r = 0; r < R; ++r) acc[r][y][v] += w[r] * xv;
        }
      }
    }
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

/// Vectors of columns of the widest tile of R filters. Of a single filter a tile takes several
/// rows, so that there are enough chains of sums for none to wait.
template <Isa I, int R>
inline constexpr int kPlaneVectors = R == 1                  ? 2
                                     : kPlaneSums<I> / R < 4 ? kPlaneSums<I> / R
                                                             : 4;
template <int R>
inline constexpr int kTileRows = R == 1 ? 4 : 1;

/// The tile of as many vectors as there are columns for, up to V.
template <class Vec, int R, int Y, int V>
INTARSIA_INLINE void plane_tile_of(const PlaneBlock& b, const PlaneTile& at) {
  if constexpr (V > 1) {
    if (at.columns <= (V - 1) * Vec::kWidth) return plane_tile_of<Vec, R, Y, V - 1>(b, at);
  }
  plane_tile<Vec, R, Y, V>(b, at);
}

/// Y rows of R filters.
template <Isa I, int R, int Y>
INTARSIA_INLINE void plane_rows(const PlaneBlock& b, ptrdiff_t filter, ptrdiff_t y) {
  using Vec = IsaVector<I>;
  constexpr int kVectors = kPlaneVectors<I, R>;
  constexpr int kColumns = kVectors * Vec::kWidth;
  const ptrdiff_t to = filter * b.output_plane_pitch + y * b.output_row_pitch;
  for (ptrdiff_t x = 0; x < b.columns; x += kColumns) {
    const ptrdiff_t left = b.columns - x;
    plane_tile_of<Vec, R, Y, kVectors>(
        b, {.input = b.input + y * b.input_row_pitch + x,
            .weights = b.weights + filter,
            .output = b.output + to + x,
            .residual = b.residual != nullptr ? b.residual + to + x : nullptr,
            .bias = b.bias != nullptr ? b.bias + filter : nullptr,
            .columns = static_cast<int>(left < kColumns ? left : kColumns)});
  }
}

/// R filters at a time from `first` on, then fewer.
template <Isa I, int R>
void plane_filters(const PlaneBlock& b, ptrdiff_t first) {
  constexpr int kRows = kTileRows<R>;
  for (; b.filters - first >= R; first += R) {
    ptrdiff_t y = 0;
    for (; y + kRows <= b.rows; y += kRows) plane_rows<I, R, kRows>(b, first, y);
    if constexpr (kRows > 1) {
      for (; y < b.rows; ++y) plane_rows<I, R, 1>(b, first, y);
    }
  }
  if constexpr (R > 1) {
    constexpr int kFewer = R > 8 ? 8 : R > 4 ? 4 : R > 2 ? 2 : 1;
    if (first < b.filters) plane_filters<I, kFewer>(b, first);
  }
}

template <Isa I>
void Microkernels<I>::planes(const PlaneBlock& block) {
  plane_filters<I, kPlaneRows<I>>(block, 0);
}

}  // namespace intarsia::cpu
