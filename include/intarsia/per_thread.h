// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory of which every thread of `parallel_for` has a piece of its own.
//
//     static int64_t workspace(const KernelContext& context) {
//       return (bytes_of_a_piece * context.threads()).value();  // CheckedInt
//     }
//     ...
//     const PerThread<float> scratch(context.workspace(), context.threads(), floats_of_a_piece);
//     context.parallel_for(rows, [&](int64_t begin, int64_t end, int thread) {
//       float* own = scratch[thread];
//       ...
//     });
//
// Two threads that write to one line of the cache take it from each other at each write, and are
// then no faster than one; and a processor that reads on fetches lines ahead, with the same effect
// on who writes there. Pieces therefore share no line, and have as much room in front and behind as
// memory permits: to what `workspace` asks for the converter adds kThreadGap for each thread. A
// plan made before it did so has pieces that lie closer, and the same results.
//
// Thread-safety: an object may be read by all threads; a piece belongs to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace intarsia {

/// Bytes that the memory of two threads is apart, so that they share no line of the cache.
inline constexpr size_t kThreadLine = 64;

/// Bytes of a plan's workspaces between what is of different threads: about as far as processors
/// fetch ahead.
inline constexpr size_t kThreadGap = 512;

/// Pieces of a workspace, or of what is left of it, one for each thread.
template <class T>
class PerThread {
 public:
  /// For `threads` pieces (at least 1) of `elements` each. REQUIRES: `room` is aligned for T and
  /// has the bytes of all pieces.
  PerThread(std::span<std::byte> room, int threads, int64_t elements)
      : first_(room.data()), pitch_(static_cast<size_t>(elements) * sizeof(T)), bytes_(pitch_) {
    const size_t skipped = -reinterpret_cast<uintptr_t>(first_) % kThreadLine;
    const size_t lines = room.size() < skipped ? 0 : (room.size() - skipped) / kThreadLine;
    const size_t apart = lines / static_cast<size_t>(threads) * kThreadLine;
    if (threads == 1 || apart < pitch_) return;
    const size_t front = (apart - pitch_) / 2 / kThreadLine * kThreadLine;
    first_ += skipped + front;
    pitch_ = apart;
    bytes_ = apart - front;
  }

  /// For pieces that are what there is, cut to whole lines. REQUIRES: `room` is aligned to a line,
  /// as a workspace is, and `workspace` asked for whole lines for each thread.
  PerThread(std::span<std::byte> room, int threads)
      : first_(room.data()),
        pitch_(room.size() / static_cast<size_t>(threads) / kThreadLine * kThreadLine),
        bytes_(pitch_) {}

  /// What a piece has room for, at least what was asked for.
  int64_t elements() const { return static_cast<int64_t>(bytes_ / sizeof(T)); }

  /// That of a thread, undefined until it writes there.
  T* operator[](int thread) const {
    return reinterpret_cast<T*>(first_ + static_cast<size_t>(thread) * pitch_);
  }

 private:
  std::byte* first_;
  size_t pitch_;  ///< From piece to piece.
  size_t bytes_;  ///< Of a piece.
};

}  // namespace intarsia
