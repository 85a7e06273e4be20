// SPDX-License-Identifier: Apache-2.0
//
// The tile that a block of a product computes, and how parts of both operands lie in shared memory
// meanwhile. A part is 64 bytes of depth: rows of A, and as many rows of B. Both are stored in
// chunks of 16 bytes, whose order within a row depends on the row, so that eight chunks below one
// another are in different banks.
#pragma once

#include "kernels_cuda/common/device.h"

namespace intarsia::cuda {

template <class T, int Rows, int Columns, int Threads, int Stages>
struct Tile {
  using Element = T;
  static constexpr int kRows = Rows;
  static constexpr int kColumns = Columns;
  static constexpr int kThreads = Threads;
  static constexpr int kStages = Stages;            // parts that are in shared memory at a time
  static constexpr bool kSharesDepth = Rows < 128;  // large tiles have the multiprocessors busy
  static constexpr int kChunk = kPack<T>;
  static constexpr int kDepth = 64 / static_cast<int>(sizeof(T));
  static constexpr int kPartA = Rows * kDepth;
  static constexpr int kPartB = kDepth * Columns;
  // Sums on their way to the output, some rows at a time; rows of the pitch lie 8 banks apart.
  static constexpr int kRowsOut = 64;
  static constexpr int kPitchOut = Columns + 8;

  INTARSIA_DEVICE static int place_a(int row, int depth) {
    constexpr int kChunks = kDepth / kChunk;
    static_assert(kChunks == 4);
    return (row * kChunks + (depth / kChunk ^ row / 2 % kChunks)) * kChunk + depth % kChunk;
  }
  INTARSIA_DEVICE static int place_b(int depth, int column) {
    constexpr int kChunks = Columns / kChunk;
    static_assert(kChunks >= 8);
    return (depth * kChunks + (column / kChunk ^ depth % 8)) * kChunk + column % kChunk;
  }
};

/// Brings parts of A: `Width` neighbours in depth at once, so that a thread has one place in depth
/// and several rows.
template <class Tile, class Problem, int Width>
struct LoaderA {
  static constexpr int kPieces = Tile::kDepth / Width;
  static constexpr int kRowsAtOnce = Tile::kThreads / kPieces;
  static constexpr int kLoads = Tile::kRows / kRowsAtOnce;
  typename Problem::Row rows[kLoads];
  int depth = 0;

  INTARSIA_DEVICE LoaderA(const Problem& problem, const typename Problem::Batch& batch, int first) {
    const int thread = static_cast<int>(thread_x());
    depth = thread % kPieces * Width;
    INTARSIA_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int row = first + thread / kPieces + i * kRowsAtOnce;
      // What there is no row for is not stored; any row will do.
      rows[i] = problem.row(batch, row < problem.rows ? row : problem.rows - 1);
    }
  }
  template <class Array>
  INTARSIA_DEVICE void load(const Problem& problem, int first, Array& to, int part) const {
    const int k = first + depth;
    const bool inside = k < problem.depth;
    const typename Problem::Tap tap = problem.tap(inside ? k : 0);
    INTARSIA_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int row = static_cast<int>(thread_x()) / kPieces + i * kRowsAtOnce;
      const int from = inside ? problem.a(rows[i], tap) : -1;
      copy_async<Width>(to, part + Tile::place_a(row, depth), problem.left, from, from >= 0);
    }
  }
};

/// Brings parts of B: `Width` neighbouring columns at once.
template <class Tile, class Problem, int Width>
struct LoaderB {
  static constexpr int kPieces = Tile::kColumns / Width;
  static constexpr int kDepthsAtOnce = Tile::kThreads / kPieces;
  static constexpr int kLoads = Tile::kDepth / kDepthsAtOnce;
  int column;
  int from;  // in depth 0
  bool inside;

  INTARSIA_DEVICE LoaderB(const Problem& problem, const typename Problem::Batch& batch, int first) {
    column = static_cast<int>(thread_x()) % kPieces * Width;
    inside = first + column < problem.columns;
    from = batch.b + (first + column) * problem.b_column;
  }
  template <class Array>
  INTARSIA_DEVICE void load(const Problem& problem, int first, Array& to, int part) const {
    INTARSIA_UNROLLED
    for (int i = 0; i < kLoads; ++i) {
      const int depth = static_cast<int>(thread_x()) / kPieces + i * kDepthsAtOnce;
      const bool there = inside && first + depth < problem.depth;
      copy_async<Width>(to, part + Tile::place_b(depth, column), problem.right,
                        from + (first + depth) * problem.b_depth, there);
    }
  }
};

}  // namespace intarsia::cuda
