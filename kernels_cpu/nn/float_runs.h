// SPDX-License-Identifier: Apache-2.0
//
// Runs of halves that are read several times become floats once, in the node's workspace; plans
// made before there was this room read them block by block, as runs do that would take too much.
#pragma once

#include "intarsia/checked_int.h"
#include "kernels_cpu/elementwise/float_blocks.h"

namespace intarsia::cpu {

/// Of elements of type T. One run of each thread, and some that all threads read.
template <class T>
class FloatRuns {
 public:
  static int64_t bytes(const KernelContext& context, int64_t run, int shared) {
    if (!kIsHalf<T> || run > kMost) return 0;
    return (CheckedInt(pitch(run)) * int64_t{sizeof(float)} * (context.threads() + shared)).value();
  }

  FloatRuns(const KernelContext& context, int64_t run, int shared)
      : isa_(context.isa()), run_(run), shared_(shared) {
    const int64_t needed = bytes(context, run, shared);
    if (needed > 0 && context.workspace_bytes() >= needed) {
      room_ = reinterpret_cast<float*>(context.workspace().data());
    }
  }

  /// True if there is room. Else the functions below may not be called.
  bool fit() const { return room_ != nullptr; }
  /// The run at x, in one of the places for all threads; null if x is.
  const float* shared(int place, const T* x) const {
    return x != nullptr ? floats(place, x) : nullptr;
  }
  /// The run at x, in the thread's place.
  const float* own(int thread, const T* x) const { return floats(shared_ + thread, x); }

 private:
  static constexpr int64_t kMost = 1 << 14;  // stays in the cache until it is read again
  /// Threads share no line of the cache.
  static constexpr int64_t pitch(int64_t run) { return (run + 15) / 16 * 16; }

  const float* floats(int place, const T* x) const {
    float* to = room_ + place * pitch(run_);
    if constexpr (kIsHalf<T>) to_floats(isa_, x, to, run_);
    return to;
  }

  Isa isa_;
  int64_t run_;
  int shared_;
  float* room_ = nullptr;
};

}  // namespace intarsia::cpu
