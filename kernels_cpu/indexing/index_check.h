// SPDX-License-Identifier: Apache-2.0
//
// Indices come from data: each must lie in [-extent, extent) of its axis before it is used.
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/common/isa_loop.h"

namespace intarsia::cpu {

/// The type that a list of int32 or int64 must have: its own, or int64 if it is neither.
inline KernelType index_type(const TensorView& view) {
  return view.type == DataType::kInt32 ? DataType::kInt32 : DataType::kInt64;
}

/// Fails with kIndexOutOfRange unless indices[0], indices[stride], ... (`count` of them) lie in
/// range.
template <class I>
Status check_indices(const KernelContext& context, const I* indices, int64_t count, int64_t stride,
                     int64_t extent, int axis) {
  I lowest = 0, highest = -1;
  on_isa(context.isa(), [=, &lowest, &highest] {
    I low = 0, high = -1;
    for (int64_t i = 0; i < count; ++i) {
      const I index = indices[i * stride];
      low = index < low ? index : low;
      high = index > high ? index : high;
    }
    lowest = low;
    highest = high;
  });
  if (lowest >= -extent && highest < extent) return {};
  return context.fail(Code::kIndexOutOfRange, "index out of range", extent,
                      highest >= extent ? highest : lowest, 1, axis);
}

/// An index that was checked, counted from the front.
template <class I>
int64_t from_front(I index, int64_t extent) {
  return index < 0 ? index + extent : index;
}

}  // namespace intarsia::cpu
