// SPDX-License-Identifier: Apache-2.0
//
// See lockstep.h.
#include "core/runtime/lockstep.h"

#include "intarsia/internal/spin.h"

namespace intarsia {
namespace {

// Turns of a loop, which take longer than threads that have a processor wait for each other.
constexpr int kPatience = 1 << 14;
// Turns that the leader waits for others to come.
constexpr int kWelcome = 64;
// Of so many steps the first ones are a trial: steps 1 and 2 are done alone, as step 0 is like no
// other, and step 1 has to fetch what the others have written.
constexpr int kWorthTrial = 16;
constexpr int kTrialAlone = 2;
constexpr int kTrialEnd = 6;

// A counter of time, whatever its unit; 0 where there is none that programs may read.
uint64_t ticks() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t count = 0;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return 0;
#endif
}

// The least that steps take alone and together, 0 where it is not known.
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

}  // namespace

void Lockstep::take_part(int64_t steps, const void* body, Step call) {
  if (steps <= 0) return;
  const int part = arrived_.fetch_add(1, std::memory_order_acq_rel);
  if (steps > kMostSteps) {
    for (int64_t step = 0; part == 0 && step < steps; ++step) call(body, step, 0, 1);
  } else if (part == 0) {
    lead(static_cast<Word>(steps), body, call);
  } else if (part < threads_) {
    follow(part, body, call);
  }
}

int Lockstep::arrived() const {
  const int count = arrived_.load(std::memory_order_acquire);
  return count < threads_ ? count : threads_;
}

/// Returns when threads [1, parts) have come to `step`; false if that took long.
bool Lockstep::await(Word parts, Word step) const {
  int turns = 0;
  for (Word part = 1; part < parts; ++part) {
    while (progress_[part].step.load(std::memory_order_acquire) < step) {
      turns += turns < kPatience ? 1 : 0;
      relax();
    }
  }
  return turns < kPatience;
}

void Lockstep::lead(Word steps, const void* body, Step call) {
  for (int turns = 0; turns < kWelcome && arrived() < threads_; ++turns) relax();
  Word parts = arrived();
  plan_.steps[0].store(parts, std::memory_order_release);
  bool alone = !await(parts, 0);
  const bool tries = steps >= kWorthTrial;
  Trial trial;
  for (Word step = 0; step < steps;) {
    if (step == 1) trial.begin();
    call(body, step, 0, static_cast<int>(parts));
    const bool was_alone = parts == 1;
    ++step;
    alone |= step == steps;
    const Word next = tries && step <= kTrialAlone ? 1 : arrived();
    plan_.steps[step % 2].store(step * kParts + (alone ? kAlone : next), std::memory_order_release);
    // Those who took part have to be done; those who are new, to be there.
    const bool in_time = await(alone || parts > next ? parts : next, step);
    parts = alone ? 1 : next;
    alone |= !in_time;
    if (!tries || step == 1 || step > kTrialEnd) continue;
    trial.end(was_alone);
    alone |= step == kTrialEnd && trial.together != 0 && trial.says_alone();
  }
}

void Lockstep::follow(int part, const void* body, Step call) {
  for (Word word = join(part, 0); word % kParts != kAlone;) {
    const Word step = word / kParts, parts = word % kParts;
    progress_[part].step.store(step, std::memory_order_release);
    await(parts, step);
    call(body, step, part, static_cast<int>(parts));
    progress_[part].step.store(step + 1, std::memory_order_release);
    const std::atomic<Word>& next = plan_.steps[(step + 1) % 2];
    while ((word = next.load(std::memory_order_acquire)) / kParts <= step) relax();
    if (word % kParts <= part) word = join(part, step + 1);
  }
}

/// What the leader says about the first step from `first` on that has this part, or that it needs
/// nobody. A leader that has said so waits until the thread has come to the step.
Lockstep::Word Lockstep::join(int part, Word first) const {
  for (;; relax()) {
    for (const std::atomic<Word>& plan : plan_.steps) {
      const Word word = plan.load(std::memory_order_acquire);
      if (word % kParts > part && word / kParts >= first) return word;
    }
  }
}

void Parallel::take_steps(const Parallel& parallel, const KernelContext& context, int64_t steps,
                          int64_t most, const void* body, Step call) {
  const int64_t threads = most < parallel.threads ? most : parallel.threads;
  struct Together {
    Lockstep lockstep;
    int64_t steps;
    const void* body;
    Step call;
  } together{Lockstep(static_cast<int>(threads)), steps, body, call};
  parallel.share(
      parallel, context, Share::kIfWorth, threads,
      [](void* self, int64_t begin, int64_t end, int) {
        auto& all = *static_cast<Together*>(self);
        for (; begin < end; ++begin) all.lockstep.take_part(all.steps, all.body, all.call);
      },
      &together);
}

}  // namespace intarsia
