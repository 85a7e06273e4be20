// SPDX-License-Identifier: Apache-2.0
//
// Runs of halves that are read several times become floats once, in the node's workspace, and
// halves again when all is done; plans made before there was this room read them block by block, as
// runs do that would take too much. Short runs are taken together.
#pragma once

#include "intarsia/checked_int.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {

/// Runs as they are.
class PlainRuns {
 public:
  static constexpr int64_t kTogether = INTARSIA_HAS_VECTORS ? 32 : 1;

  explicit PlainRuns(int64_t run) : together_(runs_together(run, kTogether)) {}

  /// How many runs a thread takes together of those that are left.
  int64_t take(int64_t left) const { return left < together_ ? left : together_; }

  template <class T>
  const T* shared(int, const T* x) const {
    return x;
  }
  template <class T>
  const T* own(int, const T* x, int64_t) const {
    return x;
  }
  template <class T>
  T* results(int, T* y) const {
    return y;
  }
  template <class T>
  void store(int, T*, int64_t) const {}

 private:
  int64_t together_;
};

/// Runs of each thread, and single ones that all threads read, as floats if they are halves.
class FloatRuns {
 public:
  static constexpr int64_t kTogether = PlainRuns::kTogether;

  /// Bytes for runs of elements of type T.
  template <class T>
  static int64_t bytes(const KernelContext& context, int64_t run, int shared) {
    if (!kIsHalf<T> || run > kMost) return 0;
    const CheckedInt elements =
        CheckedInt(own_pitch(run)) * context.threads() + pitch(run) * shared;
    return (elements * int64_t{sizeof(float)}).value();
  }

  FloatRuns(const KernelContext& context, int64_t run, int shared)
      : isa_(context.isa()),
        run_(run),
        room_(reinterpret_cast<float*>(context.workspace().data())),
        own_(context.workspace().subspan(static_cast<size_t>(shared * pitch(run)) * sizeof(float)),
             context.threads(), own_pitch(run)) {}

  int64_t take(int64_t left) const { return PlainRuns(run_).take(left); }

  /// The run at x, in one of the places for all threads; null if x is.
  template <class T>
  const auto* shared(int place, const T* x) const {
    return values(room_ + place * pitch(run_), x, 1);
  }
  /// `runs` of them from x on, in the thread's place.
  template <class T>
  const auto* own(int thread, const T* x, int64_t runs) const {
    return values(own_[thread], x, runs);
  }
  /// Where to write the results for y, element by element of what `own` returned: `store` brings
  /// them there.
  template <class T>
  auto* results(int thread, T* y) const {
    if constexpr (kIsHalf<T>) {
      return own_[thread];
    } else {
      return y;
    }
  }
  template <class T>
  void store(int thread, T* y, int64_t runs) const {
    if constexpr (kIsHalf<T>) from_floats(isa_, own_[thread], y, runs * run_);
  }

 private:
  static constexpr int64_t kMost = 1 << 14;  // stays in the cache until it is read again
  static constexpr int64_t pitch(int64_t elements) { return (elements + 15) / 16 * 16; }
  /// For longer runs no less, although fewer are taken together.
  static int64_t own_pitch(int64_t run) {
    const int64_t many = run * kTogether,
                  most = many < kElementsTogether ? many : kElementsTogether;
    return pitch(run < most ? most : run);
  }

  template <class T>
  const auto* values(float* to, const T* x, int64_t runs) const {
    if constexpr (kIsHalf<T>) {
      return x != nullptr ? values_at(isa_, x, to, runs * run_) : nullptr;
    } else {
      return x;
    }
  }

  Isa isa_;
  int64_t run_;
  float* room_;
  PerThread<float> own_;
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
  body(PlainRuns(run));
}

}  // namespace intarsia::cpu
