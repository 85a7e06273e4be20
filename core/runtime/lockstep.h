// SPDX-License-Identifier: Apache-2.0
//
// Steps that threads take together, each step after all of them have done the one before: the time
// steps of a recurrent layer, for instance. To hand over each step by a `parallel_for` of its own
// costs several times what the threads tell each other here, which is one cache line each.
//
//     Lockstep together(threads);
//     ... on each of the threads:
//     together.take_part(steps, [&](int64_t step, int part, int parts) {
//       ... part of `parts` of this step ...
//     });
//
// Kernels call KernelContext::parallel_steps.
//
// Who comes first leads: it gives the others a microsecond to come, and takes in those who come
// later at the next step. So it does not matter whether pieces run at the same time, one after the
// other or on one thread, and nobody waits for a thread that has no processor yet. If one that
// takes part loses its processor, the leader finishes alone after that step: threads that take
// turns on one processor would wait for each other at every step. It does so, too, where steps are
// faster alone, as the first ones show: between processors that are far apart a cache line takes as
// long as a short step. Waiting is spinning: kernels make no system calls, and steps are
// microseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "intarsia/kernel.h"

namespace intarsia {

class Lockstep {
 public:
  /// The most threads that take part; others return at once.
  static constexpr int kMost = 16;

  /// For that many threads, some of which may never come.
  explicit Lockstep(int threads) : threads_(threads < kMost ? threads : kMost) {}

  /// Calls body(step, part, parts) for the steps [0, steps) that it takes part in. Once all pieces
  /// have returned, every part of every step has been done once.
  template <class Body>
  void take_part(int64_t steps, const Body& body) {
    take_part(steps, &body, [](const void* self, int64_t step, int part, int parts) {
      (*static_cast<const Body*>(self))(step, part, parts);
    });
  }
  void take_part(int64_t steps, const void* body, Parallel::Step call);

 private:
  using Step = Parallel::Step;
  /// Some processors have no atomic integers of 64 bits.
  using Word = std::conditional_t<std::atomic<int64_t>::is_always_lock_free, int64_t, int32_t>;

  /// A step that a thread has come to: what is before it is done.
  struct alignas(64) Progress {
    std::atomic<Word> step{-1};
  };
  /// What the leader says about a step: its number times kParts, plus the parts that it is cut
  /// into. There is one for odd and one for even steps, as the leader is at most one ahead of the
  /// others.
  static constexpr Word kParts = 256;
  static constexpr Word kAlone = kParts - 1;  // the leader needs nobody from this step on
  /// More steps than words hold are done alone.
  static constexpr int64_t kMostSteps = std::numeric_limits<Word>::max() / kParts - 1;
  struct alignas(64) Plan {
    std::atomic<Word> steps[2]{};
  };

  void lead(Word steps, const void* body, Step call);
  void follow(int part, const void* body, Step call);
  Word join(int part, Word first) const;
  bool await(Word parts, Word step) const;
  int arrived() const;

  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  Plan plan_;
  Progress progress_[kMost];
};

}  // namespace intarsia
