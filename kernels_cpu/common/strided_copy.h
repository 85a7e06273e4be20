// SPDX-License-Identifier: Apache-2.0
//
// Copies between tensors whose axes lie at arbitrary strides: the one loop nest behind Transpose,
// Slice, Split, Concat, Pad, DepthToSpace and SpaceToDepth.
//
//     out[sum i_a * out_stride_a] = in[sum i_a * in_stride_a]     for all i_a in [0, extent_a)
//
// Strides are in elements and may be negative or, for the input, 0. Axes are added from the
// outermost to the innermost of the output; axes of extent 1 vanish and neighbours that form one
// run in both tensors become one. Runs are copied as bytes; two axes that change places are
// transposed in tiles. Input and output do not overlap. Large copies use the caller's threads.
#pragma once

#include <cstdint>
#include <cstring>

#include "intarsia/kernel.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

struct StridedCopy {
  int rank = 0;
  bool empty = false;
  int64_t extents[kMaxRank] = {};
  int64_t out_strides[kMaxRank] = {};
  int64_t in_strides[kMaxRank] = {};

  /// REQUIRES: at most kMaxRank calls.
  void add(int64_t extent, int64_t out_stride, int64_t in_stride);
  int64_t count() const;
};

/// E is the `Element` of a Width.
template <class E>
void strided_copy(const KernelContext& context, const StridedCopy& copy, E* out, const E* in);

/// Product of the extents of axes [begin, end).
inline int64_t span_count(const TensorView& view, int begin, int end) {
  int64_t count = 1;
  for (int axis = begin; axis < end; ++axis) count *= view.extents[axis];
  return count;
}

/// Elements of `view` between neighbours along each axis.
inline void dense_strides(const TensorView& view, int64_t (&strides)[kMaxRank]) {
  int64_t stride = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= view.extents[axis];
  }
}

/// Copies `bytes` bytes; short runs, which are frequent, without a call.
inline void copy_run(void* out, const void* in, int64_t bytes) {
  auto* to = static_cast<std::byte*>(out);
  const auto* from = static_cast<const std::byte*>(in);
  // A pair of words that may overlap covers every length between one and two of them.
  const auto pair = [&](auto word) {
    constexpr int64_t kWord = sizeof(word);
    auto tail = word;
    std::memcpy(&word, from, kWord);
    std::memcpy(&tail, from + bytes - kWord, kWord);
    std::memcpy(to, &word, kWord);
    std::memcpy(to + bytes - kWord, &tail, kWord);
  };
  struct Quad {
    uint64_t words[2];
  };
  constexpr int64_t kShort = INTARSIA_HAS_VECTORS ? 128 : 32;
  if (bytes > kShort) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  } else if (bytes > 32) {
    for (int64_t i = 0; i < bytes - 32; i += 32) std::memcpy(to + i, from + i, 32);
    std::memcpy(to + bytes - 32, from + bytes - 32, 32);
  } else if (bytes >= 16) {
    pair(Quad{});
  } else if (bytes >= 8) {
    pair(uint64_t{});
  } else if (bytes >= 4) {
    pair(uint32_t{});
  } else if (bytes >= 2) {
    pair(uint16_t{});
  } else if (bytes == 1) {
    *to = *from;
  }
}

/// Copies `count` runs of `bytes` bytes, which lie `out_step` and `in_step` bytes apart.
void copy_runs(void* out, int64_t out_step, const void* in, int64_t in_step, int64_t count,
               int64_t bytes);

/// `body(self, begin, end)` over [0, count) items of `bytes` each: in one piece, or, if there is
/// enough to move, on the caller's threads.
void share_items(const KernelContext& context, int64_t count, int64_t bytes,
                 void (*body)(const void* self, int64_t begin, int64_t end), const void* self);

/// The same with `body(begin, end)`, whose code is there once.
template <class Body>
void for_items(const KernelContext& context, int64_t count, int64_t bytes, const Body& body) {
  share_items(
      context, count, bytes,
      [](const void* self, int64_t begin, int64_t end) {
        (*static_cast<const Body*>(self))(begin, end);
      },
      &body);
}

/// Copies the bytes of a whole tensor, unless both are the same memory.
void copy_tensor(const KernelContext& context, const TensorView& to, const TensorView& from);

}  // namespace intarsia::cpu
