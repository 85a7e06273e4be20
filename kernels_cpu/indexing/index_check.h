// SPDX-License-Identifier: Apache-2.0
//
// Indices come from data: each must lie in [-extent, extent) of its axis before it is used.
#pragma once

#include <atomic>
#include <type_traits>

#include "intarsia/kernel.h"
#include "kernels_cpu/common/isa_loop.h"

namespace intarsia::cpu {

/// The type that a list of int32 or int64 must have: its own, or int64 if it is neither.
inline KernelType index_type(const TensorView& view) {
  return view.type == DataType::kInt32 ? DataType::kInt32 : DataType::kInt64;
}

/// The least and the largest of indices[0], indices[stride], ...: 0 and -1 if there are none.
template <class I>
struct IndexRange {
  IndexRange(Isa isa, const I* indices, int64_t count, int64_t stride) {
    on_isa(isa, [=, this] {
      I low = 0, high = -1;
      for (int64_t i = 0; i < count; ++i) {
        const I index = indices[i * stride];
        low = index < low ? index : low;
        high = index > high ? index : high;
      }
      lowest = low;
      highest = high;
    });
  }
  bool within(int64_t extent) const { return lowest >= -extent && highest < extent; }

  I lowest = 0, highest = -1;
};

/// Fails with kIndexOutOfRange unless indices[0], indices[stride], ... (`count` of them) lie in
/// range.
template <class I>
Status check_indices(const KernelContext& context, const I* indices, int64_t count, int64_t stride,
                     int64_t extent, int axis) {
  constexpr int64_t kPiece = 4096;
  std::atomic<bool> outside{false};
  context.parallel_for((count + kPiece - 1) / kPiece, [&](int64_t begin, int64_t end, int) {
    const int64_t first = begin * kPiece, stop = end * kPiece < count ? end * kPiece : count;
    const IndexRange<I> part(context.isa(), indices + first * stride, stop - first, stride);
    if (!part.within(extent)) outside.store(true, std::memory_order_relaxed);
  });
  if (!outside.load(std::memory_order_relaxed)) return {};
  const IndexRange<I> all(context.isa(), indices, count, stride);
  return context.fail(Code::kIndexOutOfRange, "index out of range", extent,
                      all.highest >= extent ? all.highest : all.lowest, 1, axis);
}

/// An index that was checked, counted from the front.
template <class I>
int64_t from_front(I index, int64_t extent) {
  return index < 0 ? index + extent : index;
}

/// Indices of a block, counted from the front, to be checked where they are about to be used: what
/// lies far apart is then read once.
inline constexpr int64_t kIndexBlock = 256;

/// places[i] = indices[i] from the front. False, and no places to use, unless all `count` of them
/// lie in range.
template <class I>
bool place_indices(Isa isa, const I* indices, int64_t count, int64_t extent, int32_t* places) {
  using U = std::make_unsigned_t<I>;
  U outside = 0;
  on_widest_isa(isa, [=, &outside] {
    const U above = static_cast<U>(extent), last = above - 1;
    U found = 0;  // its highest bit, if a place or the distance from it to the last is negative
    for (int64_t i = 0; i < count; ++i) {
      const I index = indices[i];
      const U place = static_cast<U>(index) + (index < 0 ? above : 0);
      found |= place | (last - place);
      places[i] = static_cast<int32_t>(place);
    }
    outside = found;
  });
  return static_cast<I>(outside) >= 0;
}

}  // namespace intarsia::cpu
