// SPDX-License-Identifier: Apache-2.0
//
// Two ways. Where neighbours of the output are neighbours in the input, or no axis' are, a thread
// writes a word beside its neighbour's, the widest that all runs are made of. Where another axis
// has the input's neighbours, as in a transposed matrix, a block moves tiles through shared memory:
// it reads along one axis and writes along the other, both in whole lines of memory.
#include "kernels_cuda/movement/strided_copy.h"

#include <algorithm>

#include "kernels_cuda/common/launch.h"

namespace intarsia::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kPitch = kTile + 1;  // a column's elements lie in different banks
constexpr int kTileThreads = 256;
constexpr int kRows = kTileThreads / kTile;
/// Extents below this leave most of a tile empty.
constexpr int64_t kLeastExtent = 8;

template <class Word>
INTARSIA_GLOBAL strided_kernel(CopyAxes axes, int64_t start, Global<const Word> x, Global<Word> y,
                               int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t at[1];
    axes.locate(i, at);
    y[i] = x[start + at[0]];
  }
}

/// A matrix for each element of `others`: `columns` along the axis that is innermost in the output,
/// `rows` along the one that is innermost in the input.
struct Tiles {
  StridedAxes<2, 2 * kMaxRank> others;  // in the input, in the output
  int64_t rows = 0, columns = 0;
  int64_t column_step = 0;  // from column to column, in the input
  int64_t row_step = 0;     // from row to row, in the output
  Divisor across, matrices;
  int64_t count = 0;
};

template <class T>
INTARSIA_GLOBAL tile_kernel(Tiles tiles, int64_t start, Global<const T> x, Global<T> y) {
  INTARSIA_SHARED(T, tile, kTile * kPitch);
  const int lane = static_cast<int>(thread_x()) % kTile;
  const int first = static_cast<int>(thread_x()) / kTile;
  INTARSIA_ROLLED
  for (int64_t i = block_x(); i < tiles.count; i += grid_size()) {
    int64_t other, place, row, column, at[2];
    tiles.matrices.divide(i, other, place);
    tiles.across.divide(place, row, column);
    tiles.others.locate(other, at);
    row *= kTile;
    column *= kTile;
    // The tile before has been written out.
    if (i != block_x()) sync_threads();
    for (int k = first; k < kTile; k += kRows) {
      if (row + lane < tiles.rows && column + k < tiles.columns) {
        tile[k * kPitch + lane] = x[start + at[0] + (column + k) * tiles.column_step + row + lane];
      }
    }
    sync_threads();
    for (int k = first; k < kTile; k += kRows) {
      if (row + k < tiles.rows && column + lane < tiles.columns) {
        y[at[1] + (row + k) * tiles.row_step + column + lane] = tile[lane * kPitch + k];
      }
    }
  }
}

/// The axis with the input's neighbours, if the tiles would be worth it; else -1.
int row_axis(const CopyAxes& axes) {
  const int last = axes.rank - 1;
  const int64_t step = last < 1 ? 0 : axes.strides[0][last];
  // What is repeated is read by many threads at once: nothing is gained.
  if (step == 0 || step == 1 || axes.extents[last] < kLeastExtent) return -1;
  for (int axis = 0; axis < last; ++axis) {
    if (axes.strides[0][axis] == 1 && axes.extents[axis] >= kLeastExtent) return axis;
  }
  return -1;
}

Tiles tiles_of(const CopyAxes& axes, int rows) {
  const int columns = axes.rank - 1;
  Tiles tiles;
  tiles.rows = axes.extents[rows];
  tiles.columns = axes.extents[columns];
  tiles.column_step = axes.strides[0][columns];
  int64_t step = axes.count;
  for (int axis = 0; axis < columns; ++axis) {
    step /= axes.extents[axis];
    if (axis == rows) {
      tiles.row_step = step;
    } else {
      tiles.others.add(axes.extents[axis], {axes.strides[0][axis], step});
    }
  }
  const int64_t across = blocks_of(tiles.columns, kTile);
  const int64_t of_matrix = across * blocks_of(tiles.rows, kTile);
  tiles.count = of_matrix * tiles.others.count;
  tiles.across = Divisor(across, of_matrix);
  tiles.matrices = Divisor(of_matrix, tiles.count);
  return tiles;
}

/// The axes in words of `size` elements. REQUIRES: neighbours in the output are neighbours in the
/// input, and `size` divides what it has to.
CopyAxes in_words(const CopyAxes& axes, int64_t size) {
  if (size == 1) return axes;
  const int last = axes.rank - 1;
  CopyAxes result;
  for (int axis = 0; axis < last; ++axis) {
    result.add(axes.extents[axis], {axes.strides[0][axis] / size});
  }
  result.add(axes.extents[last] / size, {1});
  return result;
}

}  // namespace

Status strided_copy(const KernelContext& context, const CopyAxes& axes, int64_t start) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (axes.count == 0) return {};
  const int64_t bytes = element_bits(y.type) / 8;
  void* stream = stream_of(context);
  if (const int rows = row_axis(axes); rows >= 0) {
    const Tiles tiles = tiles_of(axes, rows);
    const auto blocks = static_cast<unsigned>(std::min(tiles.count, kMostBlocks));
    return with_element(bytes, [&]<class T>(T) {
      return launched(context, launch<tile_kernel<T>>(blocks, kTileThreads, stream, tiles, start,
                                                      words<const T>(x), words<T>(y)));
    });
  }
  int64_t word = bytes;
  const int last = axes.rank - 1;
  if (last >= 0 && axes.strides[0][last] == 1) {
    word =
        word_of(bytes, {address_of(x), address_of(y), start * bytes, axes.extents[last] * bytes});
    for (int axis = 0; axis < last; ++axis) {
      word = std::min(word, word_of(bytes, {axes.strides[0][axis] * bytes}));
    }
  }
  const int64_t size = word / bytes;
  const CopyAxes moved = in_words(axes, size);
  return with_word(word, [&]<class Word>(Word) {
    return launched(context, launch<strided_kernel<Word>>(grid_for(moved.count), kThreads, stream,
                                                          moved, start / size, words<const Word>(x),
                                                          words<Word>(y), moved.count));
  });
}

}  // namespace intarsia::cuda
