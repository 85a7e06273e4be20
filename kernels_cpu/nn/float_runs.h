// SPDX-License-Identifier: Apache-2.0
//
// Runs of halves that are read several times become floats once, in the node's workspace; plans
// made before there was this room read them block by block, as runs do that would take too much.
#pragma once

#include "intarsia/checked_int.h"
#include "kernels_cpu/elementwise/float_blocks.h"

namespace intarsia::cpu {

/// One run of each thread, and some that all threads read, as floats if they are halves.
class FloatRuns {
 public:
  static constexpr int64_t kTogether = 1;  ///< Runs that a thread has at a time.

  /// Bytes for runs of elements of type T.
  template <class T>
  static int64_t bytes(const KernelContext& context, int64_t run, int shared) {
    if (!kIsHalf<T> || run > kMost) return 0;
    return (CheckedInt(pitch(run)) * int64_t{sizeof(float)} * (context.threads() + shared)).value();
  }

  FloatRuns(const KernelContext& context, int64_t run, int shared)
      : isa_(context.isa()),
        run_(run),
        shared_(shared),
        room_(reinterpret_cast<float*>(context.workspace().data())) {}

  /// The run at x, in one of the places for all threads; null if x is.
  template <class T>
  const auto* shared(int place, const T* x) const {
    return values(place, x);
  }
  /// The run at x, in the thread's place.
  template <class T>
  const auto* own(int thread, const T* x) const {
    return values(shared_ + thread, x);
  }

 private:
  static constexpr int64_t kMost = 1 << 14;  // stays in the cache until it is read again
  /// Threads share no line of the cache.
  static constexpr int64_t pitch(int64_t run) { return (run + 15) / 16 * 16; }

  template <class T>
  const auto* values(int place, const T* x) const {
    if constexpr (kIsHalf<T>) {
      float* to = room_ + place * pitch(run_);
      return x != nullptr ? values_at(isa_, x, to, run_) : nullptr;
    } else {
      return x;
    }
  }

  Isa isa_;
  int64_t run_;
  int shared_;
  float* room_;
};

/// Runs as they are.
struct PlainRuns {
  static constexpr int64_t kTogether = INTARSIA_HAS_VECTORS ? 32 : 1;

  template <class T>
  const T* shared(int, const T* x) const {
    return x;
  }
  template <class T>
  const T* own(int, const T* x) const {
    return x;
  }
};

/// Calls body(runs) with FloatRuns where elements of type T are halves and there is room for them
/// as floats, else with PlainRuns.
template <class T, class Body>
void with_runs(const KernelContext& context, int64_t run, int shared, const Body& body) {
  if constexpr (kIsHalf<T>) {
    const int64_t needed = FloatRuns::bytes<T>(context, run, shared);
    if (needed > 0 && context.workspace_bytes() >= needed) {
      return body(FloatRuns(context, run, shared));
    }
  }
  body(PlainRuns());
}

}  // namespace intarsia::cpu
