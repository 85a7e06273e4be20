// SPDX-License-Identifier: Apache-2.0
//
// Indices come from data: each must lie in [-extent, extent) of its axis before it is used.
#pragma once

#include "intarsia/kernel.h"

namespace intarsia::cpu {

/// Fails if an output lies over any byte of input `input`: what was checked there must stay until
/// it is used. Plans of the converter are never like that; hostile ones are, and so may be the
/// buffers that a program binds.
inline Status check_apart(const KernelContext& context, int input, int output = 0) {
  const TensorView& in = context.input(input);
  const TensorView& out = context.output(output);
  const auto in_begin = reinterpret_cast<uintptr_t>(in.data);
  const auto out_begin = reinterpret_cast<uintptr_t>(out.data);
  const auto in_bytes = static_cast<uintptr_t>(in.bytes());
  const auto out_bytes = static_cast<uintptr_t>(out.bytes());
  if (in_begin >= out_begin + out_bytes || out_begin >= in_begin + in_bytes) return {};
  return context.fail(Code::kInvalidArgument, "output in the memory of an input", 0, 0, input);
}

/// Fails with kIndexOutOfRange unless indices[0], indices[stride], ... (`count` of them) lie in
/// range.
template <class I>
Status check_indices(const KernelContext& context, const I* indices, int64_t count, int64_t stride,
                     int64_t extent, int axis) {
  if (Status s = check_apart(context, 1); !s) return s;
  I lowest = 0, highest = -1;
  for (int64_t i = 0; i < count; ++i) {
    const I index = indices[i * stride];
    lowest = index < lowest ? index : lowest;
    highest = index > highest ? index : highest;
  }
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
