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
// Of so many steps the first ones are a trial: steps 0 and 1 are done alone, as step 0 is like no
// other, while those who wake come.
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

void Lockstep::take_part(const Steps& steps) {
  if (steps.count <= 0) return;
  const int part = arrived_.fetch_add(1, std::memory_order_acq_rel);
  if (steps.count > kMostSteps) {
    for (int64_t step = 0; part == 0 && step < steps.count; ++step) {
      steps.ahead(steps.body, step, 0, 1);
      steps.step(steps.body, step, 0, 1);
    }
  } else if (part == 0) {
    lead(steps);
  } else if (part < threads_) {
    follow(part, steps);
  }
}

int Lockstep::arrived() const {
  const int count = arrived_.load(std::memory_order_acquire);
  return count < threads_ ? count : threads_;
}

/// Returns when threads [0, parts) have come to `step`; false if that took long.
bool Lockstep::await(Word parts, Word step) const {
  int turns = 0;
  for (Word part = 0; part < parts; ++part) {
    while (said_[part].step.load(std::memory_order_acquire) < step) {
      turns += turns < kPatience ? 1 : 0;
      relax();
    }
  }
  return turns < kPatience;
}

void Lockstep::say(Word step, Word parts) {
  said_[0].plan[step % 2].store(step * kParts + parts, std::memory_order_release);
}

void Lockstep::lead(const Steps& steps) {
  const auto count = static_cast<Word>(steps.count);
  const bool tries = count >= kWorthTrial;
  for (int turns = 0; !tries && turns < kWelcome && arrived() < threads_; ++turns) relax();
  Word parts = tries ? 1 : arrived();
  come_to(0, 0);
  say(0, parts);
  bool alone = !await(parts, 0);
  steps.ahead(steps.body, 0, 0, static_cast<int>(parts));
  Trial trial;
  for (Word step = 0; step < count;) {
    if (step == 1) trial.begin();
    const Word before = parts, now = step++;
    alone |= step == count;
    parts = alone || (tries && step < kTrialAlone) ? 1 : arrived();
    say(step, alone ? kAlone : parts);
    steps.step(steps.body, now, 0, static_cast<int>(before));
    come_to(0, step);
    if (step < count && parts == before) steps.ahead(steps.body, step, 0, static_cast<int>(parts));
    // Those who took part have to be done; those who are new, to be there.
    alone |= !await(before > parts ? before : parts, step);
    if (step < count && parts != before) steps.ahead(steps.body, step, 0, static_cast<int>(parts));
    if (!tries || step == 1 || step > kTrialEnd) continue;
    trial.end(before == 1);
    alone |= step == kTrialEnd && trial.together != 0 && trial.says_alone();
  }
}

void Lockstep::follow(int part, const Steps& steps) {
  Word before = 0;  // parts of the step that this thread has just done one of; 0: there is none
  for (Word word = join(part, 0); word % kParts != kAlone;) {
    const Word step = word / kParts, parts = word % kParts;
    if (before == 0) come_to(part, step);
    // What belongs to another part than before may still be in use.
    if (parts == before) steps.ahead(steps.body, step, part, static_cast<int>(parts));
    await(parts, step);
    if (parts != before) steps.ahead(steps.body, step, part, static_cast<int>(parts));
    steps.step(steps.body, step, part, static_cast<int>(parts));
    come_to(part, step + 1);
    const std::atomic<Word>& next = said_[0].plan[(step + 1) % 2];
    while ((word = next.load(std::memory_order_acquire)) / kParts <= step) relax();
    before = parts;
    if (word / kParts == step + 1 && word % kParts > part) continue;
    word = join(part, step + 1);
    before = 0;
  }
}

/// What the leader says about the first step from `first` on that has this part, or that it needs
/// nobody. A leader that has said so waits until the thread has come to the step.
Lockstep::Word Lockstep::join(int part, Word first) const {
  for (;; relax()) {
    for (const std::atomic<Word>& plan : said_[0].plan) {
      const Word word = plan.load(std::memory_order_acquire);
      if (word % kParts > part && word / kParts >= first) return word;
    }
  }
}

void Parallel::take_steps(const Parallel& parallel, const KernelContext& context,
                          const Steps& steps, int64_t most) {
  const int64_t threads = most < parallel.threads ? most : parallel.threads;
  struct Together {
    Lockstep lockstep;
    const Steps& steps;
  } together{Lockstep(static_cast<int>(threads)), steps};
  parallel.share(
      parallel, context, Share::kIfWorth, threads,
      [](void* self, int64_t begin, int64_t end, int) {
        auto& all = *static_cast<Together*>(self);
        for (; begin < end; ++begin) all.lockstep.take_part(all.steps);
      },
      &together);
}

}  // namespace intarsia
