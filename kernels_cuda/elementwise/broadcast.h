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
  int64_t packs = 0;    ///< The first elements of the output: so many packs.
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

  /// Packs, then the elements that are left over: what threads take in turns.
  INTARSIA_HOST_DEVICE int64_t items(int n) const { return count - packs * (n - 1); }
  INTARSIA_DEVICE bool is_pack(int64_t item) const { return item < packs; }
  /// The first element of the output in an item; where those of the operands are.
  INTARSIA_DEVICE int64_t locate(int64_t item, int n, int64_t (&at)[K]) const {
    const int64_t index = is_pack(item) ? item : item + packs * (n - 1);
    const int64_t first = is_pack(item) ? item * n : index;
    if (flat) {
      for (int i = 0; i < K; ++i) at[i] = moves[i] ? first : 0;
    } else {
      axes.locate(index, at);
    }
    return first;
  }
};

}  // namespace intarsia::cuda
