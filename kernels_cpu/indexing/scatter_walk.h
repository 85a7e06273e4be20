// SPDX-License-Identifier: Apache-2.0
//
// Where scattered updates go, for the kernels with and without a reduction (negative indices count
// from the back; the rest of the output is the input's):
//   ScatterElements   y[p with the coordinate of the axis replaced by indices[p]] = updates[p]
//   ScatterND         y[indices[j..., :], i...] = updates[j..., i...]
// Updates of a position are made one after the other, so that of two the last one counts;
// `put(to, from, count)` makes `count` adjacent ones. The output may be input 0. An index out of
// range is reported before anything is written.
#pragma once

#include "core/operators/indexing/scatter.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/indexing/index_check.h"

namespace intarsia::cpu {

/// Most columns that one unit of work covers.
inline constexpr int64_t kScatterPart = 64;

/// The updates of ScatterElements as rows: axes of one update are left out, neighbours joined where
/// the output's elements follow one another. Innermost first.
struct ScatterRows {
  int rank = 0;
  int64_t extents[kMaxRank] = {1};
  int64_t strides[kMaxRank] = {};  ///< In elements of the output; 0 along the axis of the indices.
  bool along = false;              ///< The innermost is that axis.

  ScatterRows(const TensorView& updates, const int64_t* output_strides, int axis) {
    int joined = axis;  // the last axis that was taken
    for (int i = updates.rank - 1; i >= 0; --i) {
      const int64_t extent = updates.extents[i], stride = i == axis ? 0 : output_strides[i];
      if (extent == 1) continue;
      const int inner = rank - 1;
      if (i != axis && joined != axis && stride == extents[inner] * strides[inner]) {
        extents[inner] *= extent;
        continue;
      }
      along = along || (rank == 0 && i == axis);
      joined = i;
      extents[rank] = extent;
      strides[rank++] = stride;
    }
  }

  /// Where row `row` begins, without what the indices say.
  int64_t offset(int64_t row) const {
    int64_t result = 0;
    for (int i = 1; i < rank; ++i) {
      result += row % extents[i] * strides[i];
      row /= extents[i];
    }
    return result;
  }
};

template <class I, class E, class Put>
Status scatter_elements(const KernelContext& context, const Put& put) {
  const TensorView& y = context.output(0);
  const TensorView& updates = context.input(2);
  int axis = context.attributes<ScatterElementsAttributes>().axis;
  if (axis < 0) axis += y.rank;
  const int64_t extent = y.extents[axis];
  const int64_t count = updates.count();
  const I* index = context.input(1).as<const I>();
  if (Status s = check_indices(context, index, count, 1, extent, axis); !s) return s;
  copy_tensor(context, y, context.input(0));
  if (count == 0) return {};

  int64_t strides[kMaxRank];
  dense_strides(y, strides);
  const int64_t along = strides[axis];
  const ScatterRows walk(updates, strides, axis);
  const int64_t columns = walk.extents[0], step = walk.strides[0];
  const E* from = updates.as<const E>();
  // Updates meet only where they differ in the axis alone: so threads take parts of the axes before
  // it, and where these are few and it is not the last one, of a row.
  const bool meet = !walk.along && updates.extents[axis] > 1;
  const int64_t outer = meet ? span_count(updates, 0, axis) : count / columns;
  const int64_t rows = count / columns / outer;
  const int64_t part = even_block(columns, kScatterPart, 16);
  const int64_t parts = outer < 16 && !walk.along ? ceil_div(columns, part) : 1;
  context.parallel_for(outer * parts, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % parts * part;
      const int64_t stop = parts > 1 && first + part < columns ? first + part : columns;
      for (int64_t row = unit / parts * rows; row < (unit / parts + 1) * rows; ++row) {
        E* base = y.as<E>() + walk.offset(row);
        for (int64_t i = first; i < stop; ++i) {
          const int64_t at = row * columns + i;
          put(base + i * step + from_front(index[at], extent) * along, from + at, 1);
        }
      }
    }
  });
  return {};
}

template <class E, class Put>
Status scatter_nd(const KernelContext& context, const Put& put) {
  const TensorView& y = context.output(0);
  const TensorView& indices = context.input(1);
  const int tuple = indices.extents[indices.rank - 1];
  const int64_t tuples = span_count(indices, 0, indices.rank - 1);
  const int64_t run = span_count(y, tuple, y.rank);
  const auto* index = indices.as<const int64_t>();
  for (int i = 0; i < tuple && run > 0; ++i) {
    if (Status s = check_indices(context, index + i, tuples, tuple, y.extents[i], i); !s) return s;
  }
  copy_tensor(context, y, context.input(0));
  if (run == 0) return {};
  // Runs meet in any order, but their columns do not: those are what threads share.
  const auto* updates = context.input(2).as<const E>();
  const auto put_columns = [&, run](int64_t begin, int64_t end) {
    const int64_t first = begin * kScatterPart, stop = end * kScatterPart;
    const int64_t width = (stop < run ? stop : run) - first;
    const int64_t* place = index;
    const E* from = updates + first;
    // Whole runs that follow one another are put as one.
    int64_t next = 0, count = 0;
    const auto put_all = [&] {
      put(y.as<E>() + next * run + first, from, width == run ? count * run : width);
      from += count * run;
    };
    for (int64_t item = 0; item < tuples; ++item) {
      int64_t slice = 0;
      for (int i = 0; i < tuple; ++i, ++place) {
        slice = slice * y.extents[i] + from_front(*place, y.extents[i]);
      }
      if (count > 0 && (slice != next + count || width != run)) {
        put_all();
        count = 0;
      }
      if (count == 0) next = slice;
      ++count;
    }
    if (count > 0) put_all();
  };
  const int64_t columns = run < kScatterPart ? run : kScatterPart;
  for_items(context, ceil_div(run, kScatterPart), tuples * columns * int64_t{sizeof(E)},
            put_columns);
  return {};
}

}  // namespace intarsia::cpu
