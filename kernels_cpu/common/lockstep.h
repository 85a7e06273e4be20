// SPDX-License-Identifier: Apache-2.0
//
// Steps that threads take together, each step after all of them have done the one before: the time
// steps of a recurrent layer, for instance. To hand over each step by a `parallel_for` of its own
// costs several times what the threads tell each other here, which is one cache line each.
//
//     Lockstep together(threads);
//     context.parallel_for(threads, [&](int64_t begin, int64_t end, int) {
//       for (; begin < end; ++begin) together.take_part(steps, [&](int64_t step, int part, int
//       parts) {
//         ... part of `parts` of this step ...
//       });
//     });
//
// Who comes first leads: it gives the others a microsecond to come, and takes in those who come
// later at the next step. So it does not matter whether pieces run at the same time, one after the
// other or on one thread, and nobody waits for a thread that has no processor yet. If one that
// takes part loses its processor, the leader finishes alone after that step: threads that take
// turns on one processor would wait for each other at every step. Waiting is spinning: kernels make
// no system calls, and steps are microseconds.
#pragma once

#include <atomic>
#include <cstdint>

namespace intarsia::cpu {

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
    if (steps <= 0) return;
    const int part = arrived_.fetch_add(1, std::memory_order_acq_rel);
    if (part == 0) {
      lead(steps, body);
    } else if (part < threads_) {
      follow(part, body);
    }
  }

 private:
  /// A step that a thread has come to: what is before it is done.
  struct alignas(64) Progress {
    std::atomic<int64_t> step{-1};
  };
  /// What the leader says about a step: its number times kParts, plus the parts that it is cut
  /// into. There is one for odd and one for even steps, as the leader is at most one ahead of the
  /// others.
  static constexpr int64_t kParts = 256;
  static constexpr int64_t kAlone = kParts - 1;  // the leader needs nobody from this step on
  struct alignas(64) Plan {
    std::atomic<int64_t> steps[2]{};
  };
  /// Turns of a loop, which take longer than threads that have a processor wait for each other.
  static constexpr int kPatience = 1 << 14;
  /// Turns that the leader waits for others to come.
  static constexpr int kWelcome = 64;

  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }

  int arrived() const {
    const int count = arrived_.load(std::memory_order_acquire);
    return count < threads_ ? count : threads_;
  }

  /// A counter of time, whatever its unit; 0 where there is none that user code may read.
  static uint64_t ticks() {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return 0;
#endif
  }

  /// How long steps take alone and together. Of what is not known yet the time is 0.
  struct Trial {
    uint64_t alone = 0, together = 0, before = 0;

    void begin() { before = ticks(); }
    void end(bool was_alone) {
      const uint64_t now = ticks(), took = now - before;
      uint64_t& least = was_alone ? alone : together;
      if (least == 0 || took < least) least = took;
      before = now;
    }
    bool says_alone() const { return together > alone - alone / 8; }
  };
  /// Steps 1 and 2 are done alone: step 0 is like no other, and step 1 has to fetch what the others
  /// have written.
  static constexpr int64_t kTrialAlone = 2;
  static constexpr int64_t kTrialEnd = 6;
  static constexpr int64_t kWorthTrial = 16;  // steps

  /// Returns when threads [1, parts) have come to `step`; false if that took long.
  bool await(int64_t parts, int64_t step) const {
    int turns = 0;
    for (int64_t part = 1; part < parts; ++part) {
      while (progress_[part].step.load(std::memory_order_acquire) < step) {
        turns += turns < kPatience ? 1 : 0;
        relax();
      }
    }
    return turns < kPatience;
  }

  template <class Body>
  void lead(int64_t steps, const Body& body) {
    for (int turns = 0; turns < kWelcome && arrived() < threads_; ++turns) relax();
    int64_t parts = arrived();
    plan_.steps[0].store(parts, std::memory_order_release);
    bool alone = !await(parts, 0);
    Trial trial;
    for (int64_t step = 0; step < steps;) {
      if (step == 1) trial.begin();
      body(step, 0, static_cast<int>(parts));
      const bool was_alone = parts == 1;
      ++step;
      alone |= step == steps;
      const int64_t next = steps >= kWorthTrial && step <= kTrialAlone ? 1 : arrived();
      plan_.steps[step % 2].store(step * kParts + (alone ? kAlone : next),
                                  std::memory_order_release);
      // Those who took part have to be done; those who are new, to be there.
      const int64_t others = alone || parts > next ? parts : next;
      const bool in_time = await(others, step);
      parts = alone ? 1 : next;
      alone |= !in_time;
      if (step > 1 && step <= kTrialEnd) {
        trial.end(was_alone);
        alone |=
            steps >= kWorthTrial && step == kTrialEnd && trial.together != 0 && trial.says_alone();
      }
    }
  }

  template <class Body>
  void follow(int part, const Body& body) {
    for (int64_t word = join(part, 0); word % kParts != kAlone;) {
      const int64_t step = word / kParts, parts = word % kParts;
      progress_[part].step.store(step, std::memory_order_release);
      await(parts, step);
      body(step, part, static_cast<int>(parts));
      progress_[part].step.store(step + 1, std::memory_order_release);
      const std::atomic<int64_t>& next = plan_.steps[(step + 1) % 2];
      while ((word = next.load(std::memory_order_acquire)) / kParts <= step) relax();
      if (word % kParts <= part) word = join(part, step + 1);
    }
  }

  /// What the leader says about the first step from `first` on that has this part, or that it needs
  /// nobody. A leader that has said so waits until the thread has come to the step.
  int64_t join(int part, int64_t first) const {
    for (;; relax()) {
      for (const std::atomic<int64_t>& plan : plan_.steps) {
        const int64_t word = plan.load(std::memory_order_acquire);
        if (word % kParts > part && word / kParts >= first) return word;
      }
    }
  }

  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  Plan plan_;
  Progress progress_[kMost];
};

}  // namespace intarsia::cpu
