// SPDX-License-Identifier: Apache-2.0
//
// The sums of a thread, and how a part of both operands is added to them: in float by the ordinary
// units, in float16 by the matrix units. Both sum in float.
//
// `each` gives the sums in runs of neighbouring columns: visit(row, column, pack).
#pragma once

#include "kernels_cuda/linear_algebra/product_tile.h"

namespace intarsia::cuda {

/// Threads stand in `kDown` rows of 16. A thread has every kDown-th row, and per 64 columns a run
/// of 4; so a warp (4 x 8 threads) reads 4 chunks of A and 8 neighbouring ones of B.
template <class Tile>
struct FloatSums {
  static constexpr int kRun = 4;
  static constexpr int kAcross = 16;
  static constexpr int kDown = Tile::kThreads / kAcross;
  static constexpr int kRows = Tile::kRows / kDown;
  static constexpr int kRuns = Tile::kColumns / (kAcross * kRun);
  float sums[kRows * kRuns * kRun] = {};
  int down, across;

  INTARSIA_DEVICE FloatSums() {
    const int lane = static_cast<int>(thread_x()) % 32, warp = static_cast<int>(thread_x()) / 32;
    down = warp / 2 * 4 + lane / 8;
    across = warp % 2 * 8 + lane % 8;
  }
  template <class Array>
  INTARSIA_DEVICE void add(Array& parts, int a_part, int b_part) {
    INTARSIA_UNROLLED
    for (int depth = 0; depth < Tile::kDepth; depth += 4) {
      Pack<float, 4> left[kRows];
      INTARSIA_UNROLLED
      for (int i = 0; i < kRows; ++i) {
        left[i] = shared_pack<4>(parts, a_part + Tile::place_a(down + i * kDown, depth));
      }
      INTARSIA_UNROLLED
      for (int k = 0; k < 4; ++k) {
        INTARSIA_UNROLLED
        for (int run = 0; run < kRuns; ++run) {
          const int column = run * kAcross * kRun + across * kRun;
          const Pack<float, 4> right =
              shared_pack<4>(parts, b_part + Tile::place_b(depth + k, column));
          INTARSIA_UNROLLED
          for (int i = 0; i < kRows; ++i) {
            INTARSIA_UNROLLED
            for (int j = 0; j < kRun; ++j) {
              sums[(i * kRuns + run) * kRun + j] += left[i].values[k] * right.values[j];
            }
          }
        }
      }
    }
  }
  template <class Visit>
  INTARSIA_DEVICE void each(const Visit& visit) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kRows; ++i) {
      INTARSIA_UNROLLED
      for (int run = 0; run < kRuns; ++run) {
        Pack<float, kRun> pack;
        INTARSIA_UNROLLED
        for (int j = 0; j < kRun; ++j) pack.values[j] = sums[(i * kRuns + run) * kRun + j];
        visit(down + i * kDown, (run * kAcross + across) * kRun, pack);
      }
    }
  }
};

/// Warps stand in two rows; each has matrices of 16 x 8 sums.
template <class Tile>
struct HalfSums {
  static constexpr int kWarps = Tile::kThreads / 32;
  static constexpr int kDown = 2;
  static constexpr int kAcross = kWarps / kDown;
  static constexpr int kRows = Tile::kRows / kDown / 16;         // matrices of a warp
  static constexpr int kColumns = Tile::kColumns / kAcross / 8;  // likewise
  float sums[kRows * kColumns * 4] = {};
  int lane, first_row, first_column;

  INTARSIA_DEVICE HalfSums() {
    lane = static_cast<int>(thread_x()) % 32;
    const int warp = static_cast<int>(thread_x()) / 32;
    first_row = warp % kDown * kRows * 16;
    first_column = warp / kDown * kColumns * 8;
  }
  template <class Array>
  INTARSIA_DEVICE void add(Array& parts, int a_part, int b_part) {
    INTARSIA_UNROLLED
    for (int depth = 0; depth < Tile::kDepth; depth += 16) {
      unsigned left[kRows][4];
      INTARSIA_UNROLLED
      for (int i = 0; i < kRows; ++i) {
        const int row = first_row + i * 16 + lane % 16;
        load_matrices<false>(left[i], parts, a_part + Tile::place_a(row, depth + lane / 16 * 8));
      }
      INTARSIA_UNROLLED
      for (int j = 0; j < kColumns; j += 2) {
        unsigned right[4];
        const int column = first_column + j * 8 + lane / 16 * 8;
        load_matrices<true>(right, parts, b_part + Tile::place_b(depth + lane % 16, column));
        INTARSIA_UNROLLED
        for (int i = 0; i < kRows; ++i) {
          multiply_add(part(i, j), left[i], right[0], right[1]);
          multiply_add(part(i, j + 1), left[i], right[2], right[3]);
        }
      }
    }
  }
  template <class Visit>
  INTARSIA_DEVICE void each(const Visit& visit) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kRows; ++i) {
      INTARSIA_UNROLLED
      for (int j = 0; j < kColumns; ++j) {
        const int row = first_row + i * 16 + lane / 4;
        const int column = first_column + j * 8 + lane % 4 * 2;
        visit(row, column, Pack<float, 2>{{part(i, j)[0], part(i, j)[1]}});
        visit(row + 8, column, Pack<float, 2>{{part(i, j)[2], part(i, j)[3]}});
      }
    }
  }

 private:
  using Part = float[4];
  INTARSIA_DEVICE Part& part(int row, int column) {
    return reinterpret_cast<Part&>(sums[(row * kColumns + column) * 4]);
  }
};

template <class Tile>
using SumsOf = std::conditional_t<std::is_same_v<typename Tile::Element, float>, FloatSums<Tile>,
                                  HalfSums<Tile>>;

}  // namespace intarsia::cuda
