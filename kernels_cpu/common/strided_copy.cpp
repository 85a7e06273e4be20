// SPDX-License-Identifier: Apache-2.0
//
// The loops behind strided_copy.h. The innermost one or two axes form a panel, which is copied by
// the loop that suits its strides; the other axes are walked like an odometer.
#include "kernels_cpu/common/strided_copy.h"

#include "kernels_cpu/common/element_loops.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/gemm/even_block.h"

namespace intarsia::cpu {
namespace {

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
constexpr int64_t kFewColumns = 16;  ///< More of these.
constexpr int64_t kManyRows = 4096;  ///< Of four columns at most.
/// What a unit moves, if its columns are more than these.
constexpr int64_t kPanelBytes = 65536, kPanelColumns = 512;

void copy_transposed(const KernelContext& context, const StridedCopy& copy,
                     const ElementLoops& loops, std::byte* out, const std::byte* in) {
  const int rows = copy.rank - 2;
  int64_t outer = 1;
  for (int axis = 0; axis < rows; ++axis) outer *= copy.extents[axis];
  const int64_t all_rows = copy.extents[rows], all_columns = copy.extents[rows + 1];
  // Few rows stay together, and so do many rows of few columns.
  const int64_t most = all_columns <= 4             ? kManyRows
                       : all_columns <= kFewColumns ? 8 * kPanelRows
                                                    : kPanelRows;
  const int64_t height = all_rows < most ? all_rows : most;
  const int64_t wide = kPanelBytes / loops.size / height;
  const int64_t width = even_block(all_columns, max(wide, kPanelColumns), 16);
  // All rows of some columns come first: who made neighbours of the input has them near.
  const int64_t down = ceil_div(all_rows, height), per_outer = down * ceil_div(all_columns, width);
  const int64_t bytes = height * (all_columns < width ? all_columns : width) * loops.size;
  const Panel whole{height, width, copy.out_strides[rows], 1, copy.in_strides[rows + 1]};
  const auto copy_items = [&, all_rows, all_columns, whole](int64_t begin, int64_t end) {
    Odometer at(copy, rows, begin / per_outer);
    int64_t row = begin % per_outer % down * height, column = begin % per_outer / down * width;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t left = all_rows - row, rest = all_columns - column;
      const Panel panel{left < whole.rows ? left : whole.rows,
                        rest < whole.columns ? rest : whole.columns, whole.out_row, 1,
                        whole.in_column};
      loops.transpose(context.isa(), panel,
                      out + (at.out + row * panel.out_row + column) * loops.size,
                      in + (at.in + row + column * panel.in_column) * loops.size);
      if ((row += whole.rows) < all_rows) continue;
      row = 0;
      if ((column += whole.columns) < all_columns) continue;
      column = 0;
      at.advance();
    }
  };
  for_items(context, outer * per_outer, bytes, copy_items);
}

/// Elements of the innermost axes that a table of their places serves.
constexpr int64_t kTable = 256;

/// How many of the outermost axes are left when the others, which are dense in the output, are
/// taken by one table.
int axes_before_table(const StridedCopy& copy) {
  int axis = copy.rank;
  int64_t count = 1;
  while (axis > 0 && copy.out_strides[axis - 1] == count &&
         count * copy.extents[axis - 1] <= kTable) {
    count *= copy.extents[--axis];
  }
  return axis;
}

/// Whether so few elements lie together that their loops take longer than the copy.
bool has_small_pieces(const StridedCopy& copy) {
  const int last = copy.rank - 1;
  const int64_t run = copy.extents[last];
  if (copy.in_strides[last] == 1) return run < 4;
  int64_t panel = run;
  for (int axis = 0; axis < last; ++axis) {
    if (copy.in_strides[axis] == 1) panel = run * copy.extents[axis];
  }
  return panel < 16;
}

/// The innermost axes by a table of the places of their elements in the input.
void copy_by_table(const KernelContext& context, const StridedCopy& copy, int rank, int64_t count,
                   const ElementLoops& loops, std::byte* out, const std::byte* in) {
  int64_t places[kTable];
  StridedCopy inner;
  for (int axis = rank; axis < copy.rank; ++axis) {
    inner.extents[inner.rank] = copy.extents[axis];
    inner.in_strides[inner.rank++] = copy.in_strides[axis];
  }
  Odometer place(inner, inner.rank, 0);
  for (int64_t i = 0; i < count; ++i, place.advance()) places[i] = place.in;
  int64_t outer = 1;
  for (int axis = 0; axis < rank; ++axis) outer *= copy.extents[axis];
  const auto copy_items = [&](int64_t begin, int64_t end) {
    Odometer at(copy, rank, begin);
    for (int64_t item = begin; item < end; ++item, at.advance()) {
      loops.gather(count, out + at.out * loops.size, in + at.in * loops.size, places);
    }
  };
  for_items(context, outer, count * loops.size, copy_items);
}

/// Runs of N to 2 * N vectors of 16 bytes: the first N and the last N, which may overlap.
template <int N>
void copy_short_runs(std::byte* to, int64_t out_step, const std::byte* from, int64_t in_step,
                     int64_t count, int64_t bytes) {
  typedef uint8_t Vector __attribute__((vector_size(16), aligned(1), may_alias));  // NOLINT
  const int64_t last = bytes - int64_t{sizeof(Vector)} * N;
  for (int64_t i = 0; i < count; ++i, to += out_step, from += in_step) {
    Vector head[N], tail[N];
    INTARSIA_UNROLLED
    for (int v = 0; v < N; ++v) {
      head[v] = reinterpret_cast<const Vector*>(from)[v];
      tail[v] = reinterpret_cast<const Vector*>(from + last)[v];
    }
    INTARSIA_UNROLLED
    for (int v = 0; v < N; ++v) {
      reinterpret_cast<Vector*>(to)[v] = head[v];
      reinterpret_cast<Vector*>(to + last)[v] = tail[v];
    }
  }
}

void copy_rows(const KernelContext& context, const StridedCopy& copy, const ElementLoops& loops,
               std::byte* out, const std::byte* in) {
  const int64_t size = loops.size;
  const int last = copy.rank - 1;
  const int64_t run = copy.extents[last];
  const int64_t out_stride = copy.out_strides[last], in_stride = copy.in_strides[last];
  int64_t rows = 1;
  for (int axis = 0; axis < last; ++axis) rows *= copy.extents[axis];
  // Long rows are cut, so that threads share a single one, too.
  const int64_t part = kRowPartBytes / size, most = run < part ? run : part;
  const int64_t parts = (run + most - 1) / most;
  // The last axis of the rows has a loop of its own: short rows take less than a step of all axes.
  const int outer = last > 0 ? last - 1 : 0;
  const int64_t out_row = last > 0 ? copy.out_strides[outer] : 0;
  const int64_t in_row = last > 0 ? copy.in_strides[outer] : 0;
  const int64_t per_outer = (last > 0 ? copy.extents[outer] : 1) * parts;
  const auto copy_items = [&](int64_t begin, int64_t end) {
    Odometer at(copy, outer, begin / per_outer);
    int64_t place = begin % per_outer;
    for (int64_t item = begin; item < end; place = 0, at.advance()) {
      const int64_t left = per_outer - place, pieces = left < end - item ? left : end - item;
      const int64_t row = place / parts;
      std::byte* to = out + (at.out + row * out_row) * size;
      const std::byte* from = in + (at.in + row * in_row) * size;
      int64_t first = (place - row * parts) * most;
      item += pieces;
      for (int64_t piece = 0; piece < pieces; ++piece) {
        const int64_t count = run - first < most ? run - first : most;
        if (out_stride == 1 && in_stride == 1) {
          const int64_t together = parts == 1 ? pieces : 1;
          copy_runs(to + first * size, out_row * size, from + first * size, in_row * size, together,
                    count * size);
          piece += together - 1;
        } else {
          loops.scatter(count, to + first * out_stride * size, out_stride,
                        from + first * in_stride * size, in_stride);
        }
        first += most;
        if (first < run) continue;
        first = 0;
        to += out_row * size;
        from += in_row * size;
      }
    }
  };
  for_items(context, rows * parts, most * size, copy_items);
}

/// Whether the innermost axis is two neighbours in both tensors, or four or eight, that make one
/// element of up to 64 bits; `places` are the bits of both addresses.
bool has_pairs(const StridedCopy& copy, int64_t size, uintptr_t places) {
  const int last = copy.rank - 1;
  const int64_t run = copy.extents[last];
  if (run % 2 != 0 || run * size > 8 || places % static_cast<uintptr_t>(2 * size) != 0)
    return false;
  if (copy.out_strides[last] != 1 || copy.in_strides[last] != 1) return false;
  for (int axis = 0; axis < last; ++axis) {
    if ((copy.out_strides[axis] | copy.in_strides[axis]) & 1) return false;
  }
  return true;
}

/// The copy in elements of twice the size.
StridedCopy in_pairs(const StridedCopy& copy) {
  StridedCopy pairs;
  for (int axis = 0; axis + 1 < copy.rank; ++axis) {
    pairs.add(copy.extents[axis], copy.out_strides[axis] / 2, copy.in_strides[axis] / 2);
  }
  pairs.add(copy.extents[copy.rank - 1] / 2, 1, 1);
  return pairs;
}

void copy_elements(const KernelContext& context, const StridedCopy& copy, const ElementLoops& loops,
                   std::byte* out, const std::byte* in) {
  if (copy.empty) return;
  if (copy.rank == 0) {
    std::memcpy(out, in, static_cast<size_t>(loops.size));
    return;
  }
  if (INTARSIA_HAS_VECTORS && loops.size <= 8 && has_small_pieces(copy)) {
    const int rank = axes_before_table(copy);
    int64_t count = 1;
    for (int axis = rank; axis < copy.rank; ++axis) count *= copy.extents[axis];
    if (count >= 16 && copy.count() >= 4 * count) {
      return copy_by_table(context, copy, rank, count, loops, out, in);
    }
  }
  const int last = copy.rank - 1;
  if (copy.out_strides[last] == 1 && copy.in_strides[last] != 1) {
    for (int axis = last - 1; axis >= 0; --axis) {
      if (copy.in_strides[axis] != 1) continue;
      StridedCopy ordered = copy;
      move_axis(ordered, axis, last - 1);
      return copy_transposed(context, ordered, loops, out, in);
    }
  }
  copy_rows(context, copy, loops, out, in);
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
  auto* to = reinterpret_cast<std::byte*>(out);
  const auto* from = reinterpret_cast<const std::byte*>(in);
  if constexpr (INTARSIA_HAS_VECTORS && sizeof(E) <= 4) {  // small programs do without
    const auto places = reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in);
    if (copy.rank > 1 && has_pairs(copy, sizeof(E), places)) {
      using Pair = typename Width<sizeof(E) * 16>::Element;
      return strided_copy(context, in_pairs(copy), reinterpret_cast<Pair*>(out),
                          reinterpret_cast<const Pair*>(in));
    }
  }
  copy_elements(context, copy, kLoops<E>, to, from);
}

void copy_runs(void* out, int64_t out_step, const void* in, int64_t in_step, int64_t count,
               int64_t bytes) {
  auto* to = static_cast<std::byte*>(out);
  const auto* from = static_cast<const std::byte*>(in);
#if INTARSIA_HAS_VECTORS  // small programs do without
  if (bytes >= 16 && bytes <= 32) {
    return copy_short_runs<1>(to, out_step, from, in_step, count, bytes);
  }
  if (bytes > 32 && bytes <= 64) {
    return copy_short_runs<2>(to, out_step, from, in_step, count, bytes);
  }
  if (bytes > 64 && bytes <= 128) {
    return copy_short_runs<4>(to, out_step, from, in_step, count, bytes);
  }
#endif
  for (int64_t i = 0; i < count; ++i) copy_run(to + i * out_step, from + i * in_step, bytes);
}

void share_items(const KernelContext& context, int64_t count, int64_t bytes,
                 void (*body)(const void* self, int64_t begin, int64_t end), const void* self) {
  if (bytes == 0) return;  // items without elements, of which there may be any number
  constexpr int64_t kGrainBytes = 4096;
  const int64_t grain = bytes >= kGrainBytes ? 1 : kGrainBytes / bytes;
  context.parallel_for(ceil_div(count, grain), [=](int64_t begin, int64_t end, int) {
    body(self, begin * grain, min(end * grain, count));
  });
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
