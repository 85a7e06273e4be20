// SPDX-License-Identifier: Apache-2.0
//
// Axes of a dense output over operands that lie at strides of their own: broadcasting (stride 0),
// transposition. Built on the host, merged where neighbours form one run in every operand, and
// passed to a kernel by value; a thread turns its element's number into each operand's offset.
#pragma once

#include "intarsia/tensor.h"
#include "kernels_cuda/common/device.h"

namespace intarsia::cuda {

template <int Operands>
struct StridedAxes {
  int rank = 0;
  int64_t extents[kMaxRank] = {};
  int64_t strides[Operands][kMaxRank] = {};

  /// Adds the next axis, from the outermost to the innermost.
  void add(int64_t extent, const int64_t (&steps)[Operands]) {
    if (extent == 1) return;
    bool merges = rank > 0;
    for (int i = 0; i < Operands; ++i) {
      merges = merges && strides[i][rank - 1] == steps[i] * extent;
    }
    if (merges) {
      extents[rank - 1] *= extent;
    } else {
      extents[rank++] = extent;
    }
    for (int i = 0; i < Operands; ++i) strides[i][rank - 1] = steps[i];
  }

  /// The offset in each operand of element `index` of the output.
  INTARSIA_HOST_DEVICE void locate(int64_t index, int64_t (&offsets)[Operands]) const {
    for (int i = 0; i < Operands; ++i) offsets[i] = 0;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int64_t at = index % extents[axis];
      index /= extents[axis];
      for (int i = 0; i < Operands; ++i) offsets[i] += at * strides[i][axis];
    }
  }
};

/// The distance between neighbours along axis `axis` of a dense tensor whose axes are aligned with
/// those of `rank` at the end; 0 where the tensor has one element there, or no such axis.
inline int64_t broadcast_stride(const TensorView& view, int rank, int axis) {
  const int own = axis - (rank - view.rank);
  if (own < 0 || view.extents[own] == 1) return 0;
  int64_t stride = 1;
  for (int i = own + 1; i < view.rank; ++i) stride *= view.extents[i];
  return stride;
}

}  // namespace intarsia::cuda
