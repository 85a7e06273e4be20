// SPDX-License-Identifier: Apache-2.0
//
// Tiled matrix product, the device code behind Gemm, MatMul and convolution:
//
//     out = activation(alpha * A * B + beta * addend + residual)
//
// A Problem says where the elements of A, B and the output are, so that a convolution is a product
// whose A is read through the window (implicit GEMM). Parts of both operands pass through shared
// memory (product_tile.h), several under way while one is multiplied (product_sums.h). Where tiles
// are fewer than multiprocessors, blocks share the depth of a tile, and the last one to end adds up
// what all of them found: in a fixed order, so the same bits in every run.
//
// A Problem has: rows, columns, depth; Batch batch(index), whose `b` is where its B begins;
// Row row(Batch, row); Tap tap(k); int a(Row, Tap), -1 for a zero; b_depth and b_column, the
// distances in B; int output(Batch, row), where the row's first column is, and output_column;
// int channel(Batch), that of its first column. The residual may be the same memory as the output.
#pragma once

#include "core/operators/common/activation.h"
#include "core/operators/common/fused_activation.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/packs.h"
#include "kernels_cuda/common/report.h"
#include "kernels_cuda/linear_algebra/product_extents.h"
#include "kernels_cuda/linear_algebra/product_sums.h"

namespace intarsia::cuda {

template <class T>
struct Epilogue {
  float alpha = 1;
  float beta = 1;
  Global<const T> addend;  // at row * addend_row + channel * addend_column
  int addend_row = 0;
  int addend_column = 0;
  bool packed_addend = false;  // neighbours of the output meet neighbours of it, aligned
  Global<const T> residual;
  Global<T> out;
  ActivationSpec activation;

  /// N neighbours at once. REQUIRES: they are in the output, and aligned.
  template <int N>
  INTARSIA_DEVICE void store(int at, int row, int channel, const float* sums) const {
    Pack<T, N> before{}, added{}, result;
    if (residual.present()) before = residual.template pack<N>(at);
    if (addend.present()) {
      const int from = row * addend_row + channel * addend_column;
      if (packed_addend) {
        added = addend.template pack<N>(from);
      } else {
        for (int i = 0; i < N; ++i) added.values[i] = addend[from + i * addend_column];
      }
    }
    INTARSIA_UNROLLED
    for (int i = 0; i < N; ++i) {
      result.values[i] = value(sums[i], number_of(added.values[i]), number_of(before.values[i]));
    }
    out.store(at, result);
  }
  INTARSIA_DEVICE void store(int at, int row, int channel, float sum) const {
    const float added =
        addend.present() ? number_of(addend[row * addend_row + channel * addend_column]) : 0.0f;
    out[at] = value(sum, added, residual.present() ? number_of(residual[at]) : 0.0f);
  }

 private:
  INTARSIA_DEVICE T value(float sum, float added, float before) const {
    return element_of<T>(activate(activation, alpha * sum + beta * added + before));
  }
};

/// That of a node whose bias per column and residual are inputs 2 and 3; either may be absent.
template <class T, class Attributes>
Epilogue<T> epilogue_of(const KernelContext& context, const Attributes& attributes) {
  Epilogue<T> epilogue;
  epilogue.addend = elements<T>(context.input(2));
  epilogue.addend_column = 1;
  epilogue.residual = elements<T>(context.input(3));
  epilogue.out = writable<T>(context.output(0));
  epilogue.activation = activation_of(attributes);
  return epilogue;
}

/// Blocks that share the depth of a tile, and what they leave for the last one.
struct SharedDepth {
  int blocks = 1;
  int parts = 0;  // of each block
  Global<float> sums;
  Global<unsigned> arrived;
};

/// Adds the sums of all blocks of the tile. True in the last one to come, which has them all.
template <int Threads, class Sums>
INTARSIA_DEVICE bool join_sums(Sums& mine, const SharedDepth& shared, int tile, int block) {
  INTARSIA_SHARED(unsigned, before, 1);
  constexpr int kPacks = sizeof(mine.sums) / sizeof(float) / 4;
  const int thread = static_cast<int>(thread_x());
  const auto place = [&](int from, int i) {
    return ((static_cast<int64_t>(tile * shared.blocks + from) * kPacks + i) * Threads + thread) *
           4;
  };
  INTARSIA_UNROLLED
  for (int i = 0; i < kPacks; ++i) {
    Pack<float, 4> pack;
    INTARSIA_UNROLLED
    for (int j = 0; j < 4; ++j) pack.values[j] = mine.sums[4 * i + j];
    shared.sums.store(place(block, i), pack);
  }
  fence();
  sync_threads();
  if (thread == 0) before[0] = announce(&shared.arrived[tile]);
  sync_threads();
  if (before[0] + 1 != static_cast<unsigned>(shared.blocks)) return false;
  fence();
  if (thread == 0) shared.arrived[tile] = 0;  // for the next launch
  INTARSIA_UNROLLED
  for (int i = 0; i < 4 * kPacks; ++i) mine.sums[i] = 0;
  INTARSIA_ROLLED
  for (int from = 0; from < shared.blocks; ++from) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kPacks; ++i) {
      const auto pack = shared.sums.template fresh<4>(place(from, i));
      INTARSIA_UNROLLED
      for (int j = 0; j < 4; ++j) mine.sums[4 * i + j] += pack.values[j];
    }
  }
  return true;
}

/// Finishes the sums of a tile's rows from `first_row` on.
template <class Tile, class Problem, class T, class Array>
INTARSIA_DEVICE void store_rows(const Problem& problem, const typename Problem::Batch& batch,
                                const Epilogue<T>& epilogue, Array& sums, int first_row,
                                int first_column, bool packed) {
  constexpr int kWide = kPack<T>;
  constexpr int kPieces = Tile::kColumns / kWide;
  static_assert(Tile::kRowsOut * kPieces % Tile::kThreads == 0);
  INTARSIA_UNROLLED_BY(2)
  for (int i = static_cast<int>(thread_x()); i < Tile::kRowsOut * kPieces; i += Tile::kThreads) {
    const int row = first_row + i / kPieces, column = first_column + i % kPieces * kWide;
    if (row >= problem.rows || column >= problem.columns) continue;
    float values[kWide];
    INTARSIA_UNROLLED
    for (int j = 0; j < kWide; j += 4) {
      const auto pack =
          shared_pack<4>(sums, i / kPieces * Tile::kPitchOut + i % kPieces * kWide + j);
      INTARSIA_UNROLLED
      for (int k = 0; k < 4; ++k) values[j + k] = pack.values[k];
    }
    const int at = problem.output(batch, row) + column * problem.output_column;
    const int channel = problem.channel(batch) + column;
    if (packed) {
      epilogue.template store<kWide>(at, row, channel, values);
      continue;
    }
    INTARSIA_UNROLLED
    for (int j = 0; j < kWide; ++j) {
      if (column + j >= problem.columns) break;
      epilogue.store(at + j * problem.output_column, row, channel + j, values[j]);
    }
  }
}

/// `Width`: neighbours that are read at once; the epilogue writes several if `packed_output`.
template <class Problem, class T, class Tile, int WidthA, int WidthB>
INTARSIA_GLOBAL product_kernel(Problem problem, Epilogue<T> epilogue, SharedDepth shared,
                               bool packed_output) {
  INTARSIA_SHARED(T, operands, (Tile::kStages * (Tile::kPartA + Tile::kPartB)));
  const int column_tiles = (problem.columns + Tile::kColumns - 1) / Tile::kColumns;
  const int row_tiles = (problem.rows + Tile::kRows - 1) / Tile::kRows;
  const int tile = static_cast<int>(block_x()) / shared.blocks;
  const int block = static_cast<int>(block_x()) % shared.blocks;
  const int first_column = tile % column_tiles * Tile::kColumns;
  const int first_row = tile / column_tiles % row_tiles * Tile::kRows;
  const typename Problem::Batch batch = problem.batch(tile / column_tiles / row_tiles);

  const LoaderA<Tile, Problem, WidthA> loader_a(problem, batch, first_row);
  const LoaderB<Tile, Problem, WidthB> loader_b(problem, batch, first_column);
  const int parts = (problem.depth + Tile::kDepth - 1) / Tile::kDepth;
  const int begin = block * shared.parts;
  const int end = begin + shared.parts < parts ? begin + shared.parts : parts;
  const auto load = [&](int part) {
    const int stage = part % Tile::kStages * (Tile::kPartA + Tile::kPartB);
    if (part < end) {
      loader_a.load(problem, part * Tile::kDepth, operands, stage);
      loader_b.load(problem, part * Tile::kDepth, operands, stage + Tile::kPartA);
    }
    copy_commit();
  };
  SumsOf<Tile> sums;
  for (int i = 0; i < Tile::kStages - 1; ++i) load(begin + i);
  INTARSIA_ROLLED
  for (int part = begin; part < end; ++part) {
    copy_wait<Tile::kStages - 2>();
    sync_threads();
    // Where the part before this one was, which all threads have multiplied.
    load(part + Tile::kStages - 1);
    const int stage = part % Tile::kStages * (Tile::kPartA + Tile::kPartB);
    sums.add(operands, stage, stage + Tile::kPartA);
  }
  copy_wait<0>();
  const bool alone = !Tile::kSharesDepth || shared.blocks == 1;
  if (alone) sync_threads();  // what is multiplied is not used any more
  if constexpr (Tile::kSharesDepth) {
    if (!alone && !join_sums<Tile::kThreads>(sums, shared, tile, block)) return;
  }
  // Through shared memory, so that neighbouring threads write neighbours.
  INTARSIA_SHARED_AGAIN(float, out, (Tile::kRowsOut * Tile::kPitchOut), operands);
  INTARSIA_ROLLED
  for (int top = 0; top < Tile::kRows; top += Tile::kRowsOut) {
    if (top != 0) sync_threads();
    sums.each([&](int row, int column, const auto& pack) {
      if (row < top || row >= top + Tile::kRowsOut) return;
      shared_store(out, (row - top) * Tile::kPitchOut + column, pack);
    });
    sync_threads();
    store_rows<Tile>(problem, batch, epilogue, out, first_row + top, first_column, packed_output);
  }
}

/// Which elements lie side by side, for all of a problem's rows: 16 bytes of them, and aligned.
struct ProductPacks {
  bool a = false, b = false, out = false;
};

template <class Tile, int WidthA, int WidthB, class Problem, class T>
[[nodiscard]] int launch_tiles(const Problem& problem, const Epilogue<T>& epilogue,
                               const SharedDepth& shared, int64_t tiles, bool packed_output,
                               void* stream) {
  return launch<product_kernel<Problem, T, Tile, WidthA, WidthB>>(
      static_cast<unsigned>(tiles * shared.blocks), Tile::kThreads, stream, problem, epilogue,
      shared, packed_output);
}

/// REQUIRES: `extents` are the problem's, and passed `check_product`; an output that is not empty.
template <class Problem, class T>
[[nodiscard]] int launch_product(const KernelContext& context, const ProductExtents& extents,
                                 Problem problem, Epilogue<T> epilogue, ProductPacks packs) {
  problem.rows = static_cast<int>(extents.rows);
  problem.columns = static_cast<int>(extents.columns);
  problem.depth = static_cast<int>(extents.depth);
  const auto aligned = [](const TensorView& view) { return takes_packs<T, kPack<T>>(view); };
  packs.a = packs.a && aligned(context.input(0));
  packs.b = packs.b && aligned(context.input(1));
  packs.out = packs.out && aligned(context.output(0)) && aligned(context.input(3));
  epilogue.packed_addend = epilogue.addend_column == 1 && epilogue.addend_row % kPack<T> == 0 &&
                           aligned(context.input(2));
  const ProductTiles tiles = extents.tiles(sizeof(T));
  SharedDepth shared;
  shared.blocks = tiles.blocks_of_depth;
  shared.parts = tiles.parts;
  shared.sums = {reinterpret_cast<float*>(context.workspace().data()),
                 static_cast<int64_t>(context.workspace().size() / sizeof(float))};
  shared.arrived = counters_of(context);
  void* stream = stream_of(context);
  using Large = Tile<T, ProductTiles::kLarge, ProductTiles::kLarge, 256, 3>;
  using Small = Tile<T, ProductTiles::kSmall, ProductTiles::kSmall, 128, 4>;
  constexpr int kWide = kPack<T>;
  if (tiles.large && packs.a && packs.b) {
    return launch_tiles<Large, kWide, kWide>(problem, epilogue, shared, tiles.count, packs.out,
                                             stream);
  }
  const int64_t count = extents.count(ProductTiles::kSmall);
  if (packs.b) {
    return packs.a
               ? launch_tiles<Small, kWide, kWide>(problem, epilogue, shared, count, packs.out,
                                                   stream)
               : launch_tiles<Small, 1, kWide>(problem, epilogue, shared, count, packs.out, stream);
  }
  return packs.a
             ? launch_tiles<Small, kWide, 1>(problem, epilogue, shared, count, packs.out, stream)
             : launch_tiles<Small, 1, 1>(problem, epilogue, shared, count, packs.out, stream);
}

}  // namespace intarsia::cuda
