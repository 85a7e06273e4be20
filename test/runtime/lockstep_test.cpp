// SPDX-License-Identifier: Apache-2.0
//
// Lockstep: every part of every step once, and none before all of the step before, however the
// pieces are run: at the same time, one after the other, in any order, late or not at all.
#include "core/runtime/lockstep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "test/runtime/on_team.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

constexpr int kUnits = 60;  // what a step consists of; parts are ranges of it

/// A piece on the calling thread, as KernelContext::parallel_steps does it.
template <class Ahead, class Body>
void take_part(Lockstep& together, int64_t steps, const Ahead& ahead, const Body& body) {
  struct Both {
    const Ahead& ahead;
    const Body& body;
  } both{ahead, body};
  together.take_part(
      {.count = steps,
       .body = &both,
       .ahead = [](const void* self, int64_t step, int part,
                   int parts) { static_cast<const Both*>(self)->ahead(step, part, parts); },
       .step = [](const void* self, int64_t step, int part,
                  int parts) { static_cast<const Both*>(self)->body(step, part, parts); }});
}
constexpr auto kNothing = [](int64_t, int, int) {};

/// Counts what is done, and looks whether the step before was, and what is to be done ahead.
class Ledger {
 public:
  Ledger(int64_t steps, int threads)
      : together_(threads),
        steps_(steps),
        ahead_(kUnits, -1),
        done_(static_cast<size_t>(steps * kUnits)) {}

  void take_part() {
    test::take_part(
        together_, steps_,
        [this](int64_t step, int part, int parts) {
          // Plain values: what is not ordered by the steps is found by ThreadSanitizer.
          for_units(part, parts, [&](size_t unit) {
            if (ahead_[unit] != step - 1) wrong_ = true;
            ahead_[unit] = step;
          });
        },
        [this](int64_t step, int part, int parts) {
          if (part >= parts || parts > Lockstep::kMost) wrong_ = true;
          int most = most_parts_;
          while (parts > most && !most_parts_.compare_exchange_weak(most, parts)) {
          }
          for (int unit = 0; step > 0 && unit < kUnits; ++unit) {
            if (done_[static_cast<size_t>((step - 1) * kUnits + unit)] != 1) wrong_ = true;
          }
          for_units(part, parts, [&](size_t unit) {
            if (ahead_[unit] != step) wrong_ = true;
            ++done_[static_cast<size_t>(step) * kUnits + unit];
          });
        });
  }
  /// Once all have returned.
  bool complete() const {
    return !wrong_ && std::ranges::all_of(done_, [](int times) { return times == 1; });
  }
  int most_parts() const { return most_parts_; }

 private:
  template <class Body>
  static void for_units(int part, int parts, const Body& body) {
    for (int unit = kUnits * part / parts; unit < kUnits * (part + 1) / parts; ++unit) {
      body(static_cast<size_t>(unit));
    }
  }

  Lockstep together_;
  const int64_t steps_;
  std::vector<int64_t> ahead_;  // of each unit the step that has been prepared
  std::vector<int> done_;
  std::atomic<bool> wrong_{false};
  std::atomic<int> most_parts_{0};
};

TEST(Lockstep, AllPartsOfAStepBeforeTheNext) {
  for (const int threads : {1, 2, 3, 5}) {
    const ThreadTeam team(threads);
    for (const int64_t steps : {0, 1, 2, 3, 100}) {
      for (int round = 0; round < part_of(50); ++round) {
        Ledger ledger(steps, threads);
        run_on(team, threads, [&ledger](int64_t begin, int64_t end, int) {
          for (; begin < end; ++begin) ledger.take_part();
        });
        ASSERT_TRUE(ledger.complete()) << threads << " threads, " << steps << " steps";
      }
    }
  }
}

TEST(Lockstep, PiecesOneAfterTheOther) {
  // A pool of one thread: each piece ends before the next one begins.
  for (const int64_t steps : {0, 1, 7}) {
    Ledger ledger(steps, 4);
    for (int piece = 0; piece < 4; ++piece) ledger.take_part();
    EXPECT_TRUE(ledger.complete());
    EXPECT_LE(ledger.most_parts(), 1);
  }
}

/// A machine that is busy may keep any thread from its processor: what is to happen must do so
/// once.
constexpr int kAttempts = 1000;

TEST(Lockstep, TakesInThoseWhoComeLate) {
  int most = 0;
  for (int attempt = 0; most < 3 && attempt < kAttempts; ++attempt) {
    Lockstep together(3);
    std::atomic<int> seen{0};
    const auto body = [&](int64_t, int part, int parts) {
      if (part != 0) return;
      seen = std::max(seen.load(), parts);
      if (parts < 3) std::this_thread::sleep_for(std::chrono::microseconds(20));
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { take_part(together, 500, kNothing, body); });
      while (seen < std::min(i, 1)) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (std::thread& thread : threads) thread.join();
    most = std::max(most, seen.load());
  }
  EXPECT_EQ(most, 3);
}

TEST(Lockstep, GoesOnWithoutThoseWhoLoseTheirProcessor) {
  constexpr int64_t kSteps = 200;
  int64_t of_two = 0;
  for (int attempt = 0; of_two == 0 && attempt < kAttempts; ++attempt) {
    Lockstep together(2);
    std::vector<std::atomic<int>> done(kSteps);
    const auto body = [&](int64_t step, int part, int parts) {
      if (part == 0 && parts == 2) ++of_two;
      // The other one is away for long in each step that it has, the leader works for a while.
      if (part == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (parts == 1) std::this_thread::sleep_for(std::chrono::microseconds(20));
      done[static_cast<size_t>(step)] += 2 / parts;
    };
    std::thread other([&] { take_part(together, kSteps, kNothing, body); });
    take_part(together, kSteps, kNothing, body);
    other.join();
    for (const std::atomic<int>& times : done) ASSERT_EQ(times, 2);
  }
  EXPECT_GE(of_two, 1);
  EXPECT_LE(of_two, 2) << "the leader has waited at each step";
}

TEST(Lockstep, MoreThreadsThanItServes) {
  constexpr int kThreads = Lockstep::kMost + 4;
  Ledger ledger(50, kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&] { ledger.take_part(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(ledger.complete());
}

}  // namespace
}  // namespace intarsia::test
