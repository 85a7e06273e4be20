// SPDX-License-Identifier: Apache-2.0
//
// Two axes that change places, element by element: squares are transposed in vectors of 16 bytes,
// two to four elements that lie together are pulled apart or put together.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// `rows` x `columns` elements. Columns are adjacent in the output.
struct Panel {
  int64_t rows = 1, columns = 1;
  int64_t out_row = 0, in_row = 0, in_column = 0;
};

/// out[r][c] = in[c][r] for N rows: channels that lie together are pulled apart.
template <int N, class E>
INTARSIA_INLINE void deinterleave(const Panel& p, E* __restrict out, const E* __restrict in) {
  for (int64_t c = 0; c < p.columns; ++c) {
    INTARSIA_UNROLLED
    for (int r = 0; r < N; ++r) out[r * p.out_row + c] = in[c * N + r];
  }
}

/// The same for N columns that fill the rows of the output.
template <int N, class E>
INTARSIA_INLINE void interleave(const Panel& p, E* __restrict out, const E* __restrict in) {
  for (int64_t r = 0; r < p.rows; ++r) {
    INTARSIA_UNROLLED
    for (int c = 0; c < N; ++c) out[r * N + c] = in[c * p.in_column + r];
  }
}

/// A square of elements that is transposed at once; its side fills a part of a cache line.
template <class E>
inline constexpr int kSide = sizeof(E) == 1   ? 16
                             : sizeof(E) <= 4 ? 8
                                              : 4;

/// Elements of a and b in turn, from the lower halves of both or from the upper ones.
template <bool kUpper, class V>
INTARSIA_INLINE V zip(V a, V b) {
  constexpr int n = sizeof(V) / sizeof(a[0]), h = kUpper ? n / 2 : 0;
  if constexpr (n == 16) {
    return __builtin_shufflevector(a, b, h, h + 16, h + 1, h + 17, h + 2, h + 18, h + 3, h + 19,
                                   h + 4, h + 20, h + 5, h + 21, h + 6, h + 22, h + 7, h + 23);
  } else if constexpr (n == 8) {
    return __builtin_shufflevector(a, b, h, h + 8, h + 1, h + 9, h + 2, h + 10, h + 3, h + 11);
  } else if constexpr (n == 4) {
    return __builtin_shufflevector(a, b, h, h + 4, h + 1, h + 5);
  } else {
    return __builtin_shufflevector(a, b, h, h + 2);
  }
}

/// Whether vectors of 16 bytes transpose such elements, and how many of them they hold.
template <class E>
inline constexpr bool kByVectors = INTARSIA_HAS_VECTORS && sizeof(E) <= 8;
template <class E>
inline constexpr int kVectorLanes = 16 / sizeof(E);

/// out[r][c] = in[c][r] for as many rows and columns as a vector has lanes, or fewer of them: lanes
/// beyond these are read and written all the same.
template <int kLanes, class E>
INTARSIA_INLINE void transpose_lanes(const Panel& p, E* __restrict out, const E* __restrict in,
                                     int64_t rows = kLanes, int64_t columns = kLanes) {
  constexpr size_t kBytes = kLanes * sizeof(E);
  typedef E Vector __attribute__((vector_size(kBytes)));
  Vector v[kLanes] = {}, zipped[kLanes];
  INTARSIA_UNROLLED
  for (int i = 0; i < kLanes; ++i) {
    if (i < columns) std::memcpy(&v[i], in + i * p.in_column, kBytes);
  }
  // Each round sends lane l of vector i to where the bits of (i, l) are turned by one.
  INTARSIA_UNROLLED
  for (int round = 1; round < kLanes; round *= 2) {
    INTARSIA_UNROLLED
    for (int i = 0; i < kLanes / 2; ++i) {
      zipped[2 * i] = zip<false>(v[i], v[i + kLanes / 2]);
      zipped[2 * i + 1] = zip<true>(v[i], v[i + kLanes / 2]);
    }
    INTARSIA_UNROLLED
    for (int i = 0; i < kLanes; ++i) v[i] = zipped[i];
  }
  INTARSIA_UNROLLED
  for (int i = 0; i < kLanes; ++i) {
    if (i < rows) std::memcpy(out + i * p.out_row, &v[i], kBytes);
  }
}

/// Rows that fill the columns of the input, fewer than lanes: vectors read on into the next column.
template <int kLanes, class E>
INTARSIA_INLINE void pull_apart(const Panel& p, E* __restrict out, const E* __restrict in) {
  int64_t c = 0;
  for (; (c + kLanes - 1) * p.rows + kLanes <= p.columns * p.rows; c += kLanes) {
    transpose_lanes<kLanes>(p, out + c, in + c * p.rows, p.rows);
  }
  for (; c < p.columns; ++c) {
    for (int64_t r = 0; r < p.rows; ++r) out[r * p.out_row + c] = in[c * p.rows + r];
  }
}

/// Columns that fill the rows of the output, fewer than lanes: what vectors write beyond a row is
/// written again with the next one.
template <int kLanes, class E>
INTARSIA_INLINE void put_together(const Panel& p, E* __restrict out, const E* __restrict in) {
  int64_t r = 0;
  for (; (r + kLanes - 1) * p.columns + kLanes <= p.rows * p.columns; r += kLanes) {
    transpose_lanes<kLanes>(p, out + r * p.columns, in + r, kLanes, p.columns);
  }
  for (; r < p.rows; ++r) {
    for (int64_t c = 0; c < p.columns; ++c) out[r * p.columns + c] = in[c * p.in_column + r];
  }
}

/// The same for rows from `row` and columns from `column` on. Vectors that would go beyond the
/// panel begin earlier, and copy a part once more.
template <int kLanes, class E>
void transpose_rest(const Panel& p, E* out, const E* in, int64_t row, int64_t column) {
  const auto within = [](int64_t at, int64_t end) { return at + kLanes < end ? at : end - kLanes; };
  const auto copy = [&](int64_t r, int64_t c) {
    const int64_t r0 = within(r, p.rows), c0 = within(c, p.columns);
    transpose_lanes<kLanes>(p, out + r0 * p.out_row + c0, in + c0 * p.in_column + r0);
  };
  if (p.rows < p.columns) {  // all of a column while it is near
    for (int64_t c = column; c < p.columns; c += kLanes) {
      for (int64_t r = row; r < p.rows; r += kLanes) copy(r, c);
    }
  } else {
    for (int64_t r = row; r < p.rows; r += kLanes) {
      for (int64_t c = column; c < p.columns; c += kLanes) copy(r, c);
    }
  }
}

/// Few rows or few columns, at least as many as lanes: a cache line of the long axis at a time, for
/// planes an image apart may have room for few lines.
template <int kLanes, class E>
INTARSIA_INLINE void transpose_band(const Panel& p, E* __restrict out, const E* __restrict in) {
  constexpr int64_t kLine = 64 / sizeof(E);
  const bool tall = p.rows > p.columns;
  const int64_t length = tall ? p.rows : p.columns, width = tall ? p.columns : p.rows;
  const int64_t out_long = tall ? p.out_row : 1, out_wide = tall ? 1 : p.out_row;
  const int64_t in_long = tall ? 1 : p.in_column, in_wide = tall ? p.in_column : 1;
  for (int64_t first = 0; first < length; first += kLine) {
    const int64_t at = first + kLine <= length ? first : length - kLine;
    for (int64_t side = 0; side < width; side += kLanes) {
      const int64_t wide = side + kLanes <= width ? side : width - kLanes;
      E* to = out + at * out_long + wide * out_wide;
      const E* from = in + at * in_long + wide * in_wide;
      for (int64_t i = 0; i < kLine; i += kLanes) {
        transpose_lanes<kLanes>(p, to + i * out_long, from + i * in_long);
      }
    }
  }
}

template <class E>
INTARSIA_INLINE void transpose_square(const Panel& p, E* __restrict out, const E* __restrict in) {
  constexpr int kN = kSide<E>;
  if constexpr (kByVectors<E>) {
    constexpr int kLanes = kVectorLanes<E>;
    INTARSIA_UNROLLED
    for (int r = 0; r < kN; r += kLanes) {
      INTARSIA_UNROLLED
      for (int c = 0; c < kN; c += kLanes) {
        transpose_lanes<kLanes>(p, out + r * p.out_row + c, in + c * p.in_column + r);
      }
    }
  } else {
    E square[kN][kN];
    for (int c = 0; c < kN; ++c) {
      for (int r = 0; r < kN; ++r) square[r][c] = in[c * p.in_column + r];
    }
    for (int r = 0; r < kN; ++r) std::memcpy(out + r * p.out_row, square[r], sizeof square[r]);
  }
}

/// out[r][c] = in[c][r] for rows from `row` and columns from `column` on, which are few.
template <class E>
void transpose_edge(const Panel& p, E* out, const E* in, int64_t row, int64_t column) {
  if constexpr (kByVectors<E>) {
    constexpr int kLanes = kVectorLanes<E>;
    const int64_t least = p.rows < p.columns ? p.rows : p.columns;
    if (least >= kLanes) return transpose_rest<kLanes>(p, out, in, row, column);
    if constexpr (kLanes > 4) {
      if (least >= kLanes / 2) return transpose_rest<kLanes / 2>(p, out, in, row, column);
    }
  }
  for (int64_t r = row; r < p.rows; ++r) {
    for (int64_t c = column; c < p.columns; ++c) out[r * p.out_row + c] = in[c * p.in_column + r];
  }
}

/// out[r][c] = in[c][r] in squares, then the edges. REQUIRES: in_row == 1.
template <class E>
INTARSIA_INLINE void transpose_panel(const Panel& p, E* out, const E* in) {
  // What vectors hold of the elements: of four from three on, of eight from five on.
  constexpr int kLanes = !kByVectors<E> ? 0 : sizeof(E) == 4 ? 4 : sizeof(E) <= 2 ? 8 : 0;
  constexpr bool kThree = kLanes != 4, kFour = !kByVectors<E> || sizeof(E) < 4;
  if constexpr (kLanes > 0) {
    constexpr int64_t kLeast = kLanes == 4 ? 3 : 5;
    const auto suit = [](int64_t few) { return few >= kLeast && few <= kLanes; };
    if (p.in_column == p.rows && suit(p.rows)) return pull_apart<kLanes>(p, out, in);
    if (p.out_row == p.columns && suit(p.columns)) return put_together<kLanes>(p, out, in);
  }
  if constexpr (kLanes == 4) {
    constexpr int64_t kFew = 8;
    const bool tall = p.rows > p.columns;
    const int64_t width = tall ? p.columns : p.rows, length = tall ? p.rows : p.columns;
    if (width >= kLanes && width <= kFew && length >= 4 * kFew) {
      return transpose_band<kLanes>(p, out, in);
    }
  }
  if (p.in_column == p.rows) {
    if (p.rows == 2) return deinterleave<2>(p, out, in);
    if (kThree && p.rows == 3) return deinterleave<3>(p, out, in);
    if (kFour && p.rows == 4) return deinterleave<4>(p, out, in);
  }
  if (p.out_row == p.columns) {
    if (p.columns == 2) return interleave<2>(p, out, in);
    if (kThree && p.columns == 3) return interleave<3>(p, out, in);
    if (kFour && p.columns == 4) return interleave<4>(p, out, in);
  }
  constexpr int64_t kN = kSide<E>;
  const int64_t whole_rows = p.rows - p.rows % kN;
  const int64_t whole_columns = p.columns - p.columns % kN;
  for (int64_t r = 0; r < whole_rows; r += kN) {
    for (int64_t c = 0; c < whole_columns; c += kN) {
      transpose_square(p, out + r * p.out_row + c, in + c * p.in_column + r);
    }
  }
  transpose_edge(p, out, in, 0, whole_columns);
  transpose_edge(p, out, in, whole_rows, 0);
}

}  // namespace intarsia::cpu
