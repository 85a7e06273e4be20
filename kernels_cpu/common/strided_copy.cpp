// SPDX-License-Identifier: Apache-2.0
//
// The loops behind strided_copy.h. The innermost one or two axes form a panel, which is copied by
// the loop that suits its strides; the other axes are walked like an odometer.
#include "kernels_cpu/common/strided_copy.h"

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {
namespace {

/// `rows` x `columns` elements. Columns are adjacent in the output.
struct Panel {
  int64_t rows = 1, columns = 1;
  int64_t out_row = 0, in_row = 0, in_column = 0;
};

/// out[r][c] = in[c][r] for N rows: channels that lie together are pulled apart.
template <int N, class E>
void deinterleave(const Panel& p, E* __restrict out, const E* __restrict in) {
  for (int64_t c = 0; c < p.columns; ++c) {
    for (int r = 0; r < N; ++r) out[r * p.out_row + c] = in[c * N + r];
  }
}

/// The same for N columns that fill the rows of the output.
template <int N, class E>
void interleave(const Panel& p, E* __restrict out, const E* __restrict in) {
  for (int64_t r = 0; r < p.rows; ++r) {
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

/// out[r][c] = in[c][r] for as many rows and columns as a vector has lanes.
template <int kLanes, class E>
INTARSIA_INLINE void transpose_lanes(const Panel& p, E* __restrict out, const E* __restrict in) {
  constexpr size_t kBytes = kLanes * sizeof(E);
  typedef E Vector __attribute__((vector_size(kBytes)));
  Vector v[kLanes], zipped[kLanes];
  for (int i = 0; i < kLanes; ++i) std::memcpy(&v[i], in + i * p.in_column, kBytes);
  // Each round sends lane l of vector i to where the bits of (i, l) are turned by one.
  for (int round = 1; round < kLanes; round *= 2) {
    for (int i = 0; i < kLanes / 2; ++i) {
      zipped[2 * i] = zip<false>(v[i], v[i + kLanes / 2]);
      zipped[2 * i + 1] = zip<true>(v[i], v[i + kLanes / 2]);
    }
    for (int i = 0; i < kLanes; ++i) v[i] = zipped[i];
  }
  for (int i = 0; i < kLanes; ++i) std::memcpy(out + i * p.out_row, &v[i], kBytes);
}

/// The same for rows from `row` and columns from `column` on. Vectors that would go beyond the
/// panel begin earlier, and copy a part once more.
template <int kLanes, class E>
void transpose_rest(const Panel& p, E* out, const E* in, int64_t row, int64_t column) {
  const auto within = [](int64_t at, int64_t end) { return at + kLanes < end ? at : end - kLanes; };
  for (int64_t r = row; r < p.rows; r += kLanes) {
    for (int64_t c = column; c < p.columns; c += kLanes) {
      const int64_t r0 = within(r, p.rows), c0 = within(c, p.columns);
      transpose_lanes<kLanes>(p, out + r0 * p.out_row + c0, in + c0 * p.in_column + r0);
    }
  }
}

template <class E>
void transpose_square(const Panel& p, E* __restrict out, const E* __restrict in) {
  constexpr int kN = kSide<E>;
  if constexpr (kByVectors<E>) {
    constexpr int kLanes = kVectorLanes<E>;
    for (int r = 0; r < kN; r += kLanes) {
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
void transpose_panel(const Panel& p, E* out, const E* in) {
  constexpr bool kFour = !kByVectors<E> || sizeof(E) < 4;  // vectors hold four of the others
  if (p.in_column == p.rows) {
    if (p.rows == 2) return deinterleave<2>(p, out, in);
    if (p.rows == 3) return deinterleave<3>(p, out, in);
    if (kFour && p.rows == 4) return deinterleave<4>(p, out, in);
  }
  if (p.out_row == p.columns) {
    if (p.columns == 2) return interleave<2>(p, out, in);
    if (p.columns == 3) return interleave<3>(p, out, in);
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

/// Elements of the innermost axis that are adjacent in neither tensor, or only in one.
template <class E>
void copy_scattered(int64_t count, E* out, int64_t out_stride, const E* in, int64_t in_stride) {
  if (out_stride == 1 && in_stride == 0) {
    for (int64_t i = 0; i < count; ++i) out[i] = *in;
  } else if (out_stride == 1 && in_stride == -1) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[-i];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

/// The outermost `rank` axes of a copy, visited in order from any position.
class Odometer {
 public:
  Odometer(const StridedCopy& copy, int rank, int64_t position) : copy_(copy), rank_(rank) {
    for (int axis = rank - 1; axis >= 0; --axis) {
      index_[axis] = position % copy.extents[axis];
      position /= copy.extents[axis];
      out += index_[axis] * copy.out_strides[axis];
      in += index_[axis] * copy.in_strides[axis];
    }
  }
  void advance() {
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      out += copy_.out_strides[axis];
      in += copy_.in_strides[axis];
      if (++index_[axis] < copy_.extents[axis]) return;
      out -= copy_.extents[axis] * copy_.out_strides[axis];
      in -= copy_.extents[axis] * copy_.in_strides[axis];
      index_[axis] = 0;
    }
  }
  int64_t out = 0, in = 0;

 private:
  const StridedCopy& copy_;
  int rank_;
  int64_t index_[kMaxRank] = {};
};

/// Moves axis `from` to position `to`, keeping the order of the others.
void move_axis(StridedCopy& copy, int from, int to) {
  for (int64_t* list : {copy.extents, copy.out_strides, copy.in_strides}) {
    const int64_t value = list[from];
    for (int axis = from; axis < to; ++axis) list[axis] = list[axis + 1];
    list[to] = value;
  }
}

/// What is copied at once of a long row.
constexpr int64_t kRowPartBytes = 65536;

/// Rows of a transposition that are one unit of work.
constexpr int64_t kPanelRows = 32;

template <class E>
void copy_transposed(const KernelContext& context, const StridedCopy& copy, E* out, const E* in) {
  const int rows = copy.rank - 2, columns = copy.rank - 1;
  int64_t outer = 1;
  for (int axis = 0; axis < rows; ++axis) outer *= copy.extents[axis];
  const int64_t panels = (copy.extents[rows] + kPanelRows - 1) / kPanelRows;
  // Few rows stay together; so do many rows of few columns, as unit of work and in one call.
  const bool whole = copy.extents[columns] <= 4;
  const int64_t height = whole ? copy.extents[rows] : kPanelRows;
  const int64_t per_outer = whole ? 1 : panels;
  const int64_t bytes = height * copy.extents[columns] * static_cast<int64_t>(sizeof(E));
  for_items(context, outer * per_outer, bytes, [&](int64_t begin, int64_t end) {
    Odometer at(copy, rows, begin / per_outer);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item % per_outer * height;
      const int64_t left = copy.extents[rows] - row;
      const Panel panel{left < height ? left : height, copy.extents[columns],
                        copy.out_strides[rows], 1, copy.in_strides[columns]};
      E* to = out + at.out + row * panel.out_row;
      const E* from = in + at.in + row;
      if constexpr (sizeof(E) <= 2) {  // shuffles of bytes came late
        on_isa(context.isa(), [=] { transpose_panel(panel, to, from); });
      } else {
        transpose_panel(panel, to, from);
      }
      if ((item + 1) % per_outer == 0) at.advance();
    }
  });
}

}  // namespace

void StridedCopy::add(int64_t extent, int64_t out_stride, int64_t in_stride) {
  if (extent == 0) empty = true;
  if (extent == 1) return;
  if (rank > 0 && out_strides[rank - 1] == extent * out_stride &&
      in_strides[rank - 1] == extent * in_stride) {
    --rank;
    extent *= extents[rank];
  }
  extents[rank] = extent;
  out_strides[rank] = out_stride;
  in_strides[rank] = in_stride;
  ++rank;
}

int64_t StridedCopy::count() const {
  int64_t product = empty ? 0 : 1;
  for (int axis = 0; axis < rank; ++axis) product *= extents[axis];
  return product;
}

template <class E>
void strided_copy(const KernelContext& context, const StridedCopy& copy, E* out, const E* in) {
  if (copy.empty) return;
  if (copy.rank == 0) {
    *out = *in;
    return;
  }
  const int last = copy.rank - 1;
  const int64_t run = copy.extents[last];
  const int64_t out_stride = copy.out_strides[last], in_stride = copy.in_strides[last];
  if (out_stride == 1 && in_stride != 1) {
    for (int axis = last - 1; axis >= 0; --axis) {
      if (copy.in_strides[axis] != 1) continue;
      StridedCopy ordered = copy;
      move_axis(ordered, axis, last - 1);
      return copy_transposed(context, ordered, out, in);
    }
  }
  int64_t rows = 1;
  for (int axis = 0; axis < last; ++axis) rows *= copy.extents[axis];
  // Long rows are cut, so that threads share a single one, too.
  constexpr int64_t kPart = kRowPartBytes / static_cast<int64_t>(sizeof(E));
  const int64_t most = run < kPart ? run : kPart;
  const int64_t parts = (run + most - 1) / most;
  const int64_t bytes = most * static_cast<int64_t>(sizeof(E));
  // The last axis of the rows has a loop of its own: short rows take less than a step of all axes.
  const int outer = last > 0 ? last - 1 : 0;
  const int64_t out_row = last > 0 ? copy.out_strides[outer] : 0;
  const int64_t in_row = last > 0 ? copy.in_strides[outer] : 0;
  const int64_t per_outer = (last > 0 ? copy.extents[outer] : 1) * parts;
  // Not inlined: once for a thread alone and once for several is much code.
  const auto copy_rows = [&](int64_t begin, int64_t end) __attribute__((noinline)) {
    Odometer at(copy, outer, begin / per_outer);
    int64_t place = begin % per_outer;
    for (int64_t item = begin; item < end; place = 0, at.advance()) {
      const int64_t left = per_outer - place, pieces = left < end - item ? left : end - item;
      const int64_t row = place / parts;
      E* to = out + at.out + row * out_row;
      const E* from = in + at.in + row * in_row;
      int64_t first = (place - row * parts) * most;
      for (int64_t piece = 0; piece < pieces; ++piece) {
        const int64_t count = run - first < most ? run - first : most;
        if (out_stride == 1 && in_stride == 1) {
          copy_run(to + first, from + first, count * static_cast<int64_t>(sizeof(E)));
        } else {
          copy_scattered(count, to + first * out_stride, out_stride, from + first * in_stride,
                         in_stride);
        }
        first += most;
        if (first < run) continue;
        first = 0;
        to += out_row;
        from += in_row;
      }
      item += pieces;
    }
  };
  for_items(context, rows * parts, bytes, copy_rows);
}

void copy_tensor(const KernelContext& context, const TensorView& to, const TensorView& from) {
  if (to.data == from.data) return;
  for_items(context, from.bytes(), 1, [&](int64_t begin, int64_t end) {
    std::memcpy(to.as<std::byte>() + begin, from.as<const std::byte>() + begin,
                static_cast<size_t>(end - begin));
  });
}

template void strided_copy(const KernelContext&, const StridedCopy&, Width<8>::Element*,
                           const Width<8>::Element*);
template void strided_copy(const KernelContext&, const StridedCopy&, Width<16>::Element*,
                           const Width<16>::Element*);
template void strided_copy(const KernelContext&, const StridedCopy&, Width<32>::Element*,
                           const Width<32>::Element*);
template void strided_copy(const KernelContext&, const StridedCopy&, Width<64>::Element*,
                           const Width<64>::Element*);
template void strided_copy(const KernelContext&, const StridedCopy&, Width<128>::Element*,
                           const Width<128>::Element*);

}  // namespace intarsia::cpu
