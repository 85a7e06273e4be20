// SPDX-License-Identifier: Apache-2.0
//
// Steps that threads take together, each step after all of them have done the one before: the time
// steps of a recurrent layer, for instance. To hand over each step by a `parallel_for` of its own
// costs several times what the threads tell each other here, which is one cache line each.
//
//     Lockstep together(threads);
//     ... on each of the threads:
//     together.take_part({count, body, ahead, step});
//
// Kernels call KernelContext::parallel_steps.
//
// Between its part of a step and that of the next one a thread does what it can do `ahead`: so it
// waits for the others less, and a line that says "done" has time to come (a fuzzy barrier; Gupta,
// "The fuzzy barrier: a mechanism for high speed synchronization of processors", 1989).
//
// Who comes first leads: it gives the others a microsecond to come, or does the first of many
// steps, and takes in those who come later at the next step. So it does not matter whether pieces
// run at the same time, one after the other or on one thread, and nobody waits for a thread that
// has no processor yet. If one that takes part loses its processor, the leader finishes alone after
// that step: threads that take turns on one processor would wait for each other at every step. It
// does so, too, where steps are faster alone, as the first ones show: between processors that are
// far apart a cache line takes as long as a short step. Waiting is spinning: kernels make no system
// calls, and steps are microseconds.
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

  /// Calls `ahead` and `step` for parts of the steps that it takes part in. Once all pieces have
  /// returned, every part of every step has been done once.
  void take_part(const Parallel::Steps& steps);

 private:
  using Steps = Parallel::Steps;
  /// Some processors have no atomic integers of 64 bits.
  using Word = std::conditional_t<std::atomic<int64_t>::is_always_lock_free, int64_t, int32_t>;

  /// What a thread says, in a cache line of its own.
  struct alignas(64) Said {
    /// The step that it has come to: its part of what is before is done.
    std::atomic<Word> step{-1};
    /// The leader alone: a step, before it does the one before: its number times kParts, plus the
    /// parts that it is cut into. There is one for odd and one for even steps: who has come to a
    /// step has read what is said about it.
    std::atomic<Word> plan[2]{};
  };
  static constexpr Word kParts = 256;
  static constexpr Word kAlone = kParts - 1;  // the leader needs nobody from this step on
  /// More steps than words hold are done alone.
  static constexpr int64_t kMostSteps = std::numeric_limits<Word>::max() / kParts - 1;

  void lead(const Steps& steps);
  void follow(int part, const Steps& steps);
  Word join(int part, Word first) const;
  void say(Word step, Word parts);
  void come_to(int part, Word step) { said_[part].step.store(step, std::memory_order_release); }
  bool await(Word parts, Word step) const;
  int arrived() const;

  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  Said said_[kMost];
};

}  // namespace intarsia
