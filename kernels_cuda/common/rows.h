// SPDX-License-Identifier: Apache-2.0
//
// Rows of neighbours that threads share: a warp takes a short one, a block a long one. A thread's
// first packs stay in registers, so that a row which is gone through several times is read once;
// what does not fit is read again. Sums are joined in a fixed order.
#pragma once

#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/packs.h"

namespace intarsia::cuda {

/// Threads of a block that works on rows: one row, or one for each of its warps.
inline constexpr int kRowThreads = 128;

/// NaN counts as largest, or smallest.
struct Larger {
  INTARSIA_DEVICE static float join(float a, float b) { return a > b || a != a ? a : b; }
};
struct Total {
  INTARSIA_DEVICE static float join(float a, float b) { return a + b; }
};

/// The values of the kThreads threads that share a row, joined; each of them gets the result. With
/// more than a warp: all threads of the block. A kernel gives each call an array of its own: Use.
template <class Op, int kThreads, int Use = 0, class V>
INTARSIA_DEVICE V over_row(V value) {
  for (unsigned mask = kWarpSize / 2; mask > 0; mask /= 2) {
    value = Op::join(value, shuffle_xor(value, mask));
  }
  if constexpr (kThreads > static_cast<int>(kWarpSize)) {
    constexpr int kWarps = kThreads / static_cast<int>(kWarpSize);
    INTARSIA_SHARED(V, parts, kWarps);
    if (thread_x() % kWarpSize == 0) parts[thread_x() / kWarpSize] = value;
    sync_threads();
    value = parts[0];
    for (int warp = 1; warp < kWarps; ++warp) value = Op::join(value, static_cast<V>(parts[warp]));
  }
  return value;
}

/// The row that the running thread works on, and its number among those who share it.
template <int kThreads>
struct RowPlace {
  int64_t row;
  int lane;
  INTARSIA_DEVICE RowPlace()
      : row(static_cast<int64_t>(block_x()) * (kRowThreads / kThreads) + thread_x() / kThreads),
        lane(static_cast<int>(thread_x() % kThreads)) {}
};

/// A thread's part of `length` elements of x from `first` on, shared by kThreads threads.
/// REQUIRES: length is a multiple of N, and packs of N are aligned.
template <class T, int N, int kThreads>
class RowPart {
 public:
  /// Packs in registers.
  static constexpr int kHeld = N == 1 ? 8 : 4;

  INTARSIA_DEVICE RowPart(const Global<const T>& x, int64_t first, int64_t length, int lane)
      : x_(x), first_(first), length_(length), lane_(lane) {
    repeat<kHeld>([&](auto k) {
      const int64_t at = place(k());
      if (at < length_) held_[k()] = x_.template pack<N>(first_ + at);
    });
  }
  /// body(pack, place of its first element in the row) for each pack of this thread.
  template <class Body>
  INTARSIA_DEVICE void each(const Body& body) const {
    repeat<kHeld>([&](auto k) {
      const int64_t at = place(k());
      if (at < length_) body(held_[k()], at);
    });
    INTARSIA_ROLLED
    for (int64_t at = place(kHeld); at < length_; at += kThreads * N) {
      body(x_.template pack<N>(first_ + at), at);
    }
  }

 private:
  INTARSIA_DEVICE int64_t place(int k) const { return (int64_t{k} * kThreads + lane_) * N; }

  Global<const T> x_;
  int64_t first_, length_;
  int lane_;
  Pack<T, N> held_[kHeld] = {};
};

/// Calls start(N, threads of a row), both constants, with what suits rows of so many elements:
/// packs of kMost if `packed` says that the operands allow them.
template <int kMost, class Start>
int start_rows(int64_t length, bool packed, const Start& start) {
  constexpr int kWarp = static_cast<int>(kWarpSize);
  const auto with_pack = [&](auto n) {
    constexpr int kHeld = RowPart<char, n(), kWarp>::kHeld;
    return length <= int64_t{kWarp} * n() * kHeld
               ? start(n, std::integral_constant<int, kWarp>())
               : start(n, std::integral_constant<int, kRowThreads>());
  };
  return packed && length % kMost == 0 ? with_pack(std::integral_constant<int, kMost>())
                                       : with_pack(std::integral_constant<int, 1>());
}
/// Blocks for so many rows.
inline unsigned row_blocks(int64_t rows, int threads_of_row) {
  return static_cast<unsigned>(blocks_of(rows, kRowThreads / threads_of_row));
}

}  // namespace intarsia::cuda
