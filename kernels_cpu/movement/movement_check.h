// SPDX-License-Identifier: Apache-2.0
//
// What kernels that move elements share.
#pragma once

#include "core/runtime/operand_check.h"

namespace intarsia::cpu {

/// The type that a list of int32 or int64 must have: its own, or int64 if it is neither.
inline KernelType index_type(const TensorView& view) {
  return view.type == DataType::kInt32 ? DataType::kInt32 : DataType::kInt64;
}

/// Elements of `view` between neighbours along each axis.
inline void dense_strides(const TensorView& view, int64_t (&strides)[kMaxRank]) {
  int64_t stride = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= view.extents[axis];
  }
}

}  // namespace intarsia::cpu
