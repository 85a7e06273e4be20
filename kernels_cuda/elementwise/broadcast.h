// SPDX-License-Identifier: Apache-2.0
//
// How K operands of elements that are broadcast together are read for a dense output: by packs of N
// where the innermost axis and the operands' addresses allow, by elements elsewhere. Operands that
// the output's order reads one after another, or that are one element, need no division.
#pragma once

#include "kernels_cuda/common/packs.h"
#include "kernels_cuda/common/strided.h"

namespace intarsia::cuda {

template <int K>
struct Broadcast {
  StridedAxes<K> axes;  ///< Of packs if there are any, else of elements.
  bool moves[K] = {};   ///< Along the innermost axis, by one element; else it stands still.
  bool flat = true;     ///< There is one axis, or none.
  int64_t packs = 0;    ///< The first elements of the output: those of so many packs.
  int64_t count = 0;    ///< Of the output's elements.

  /// `aligned[i]`: operand i begins where a pack may; the last one is the output.
  Broadcast(const TensorView& output, const TensorView* const (&inputs)[K], int n,
            const bool (&aligned)[K + 1])
      : count(output.count()) {
    for (int axis = 0; axis < output.rank; ++axis) {
      int64_t steps[K];
      for (int i = 0; i < K; ++i) steps[i] = broadcast_stride(*inputs[i], output.rank, axis);
      axes.add(output.extents[axis], steps);
    }
    const int last = axes.rank - 1;
    flat = last <= 0;
    bool packed = aligned[K] && (flat || axes.extents[last] % n == 0);
    for (int i = 0; i < K; ++i) {
      moves[i] = last >= 0 && axes.strides[i][last] != 0;
      packed = packed && (aligned[i] || !moves[i]);
    }
    if (!packed) return;
    packs = count / n;
    if (flat) return;
    // A moving operand's other strides are multiples of the innermost extent, and so of n.
    StridedAxes<K> of_packs;
    for (int axis = 0; axis <= last; ++axis) {
      int64_t steps[K];
      const int scale = axis == last ? n : 1;
      for (int i = 0; i < K; ++i) steps[i] = axes.strides[i][axis] * scale;
      of_packs.add(axes.extents[axis] / scale, steps);
    }
    axes = of_packs;
  }

  /// Where the operands' elements for the output's pack (or element, n = 1) `index` begin.
  INTARSIA_DEVICE void locate(int64_t index, int n, int64_t (&at)[K]) const {
    if (!flat) return axes.locate(index, at);
    for (int i = 0; i < K; ++i) at[i] = moves[i] ? index * n : 0;
  }
  /// Threads that have something to do.
  int64_t work() const { return packs > 0 ? packs : count; }
};

}  // namespace intarsia::cuda
