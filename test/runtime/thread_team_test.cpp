// SPDX-License-Identifier: Apache-2.0
//
// ThreadTeam: every element once, any count and number of threads, awake and asleep, for a caller
// that comes while another has the team, and in the child of a fork.
#include "intarsia/thread_team.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "test/runtime/on_team.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

/// What became of [0, count): each element counts its visits.
bool covers(const ThreadTeam& team, int64_t count) {
  std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
  std::atomic<bool> sane{true};
  run_on(team, count, [&](int64_t begin, int64_t end, int thread) {
    if (begin >= end || thread < 0 || thread >= team.parallel().threads) sane = false;
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  return sane && std::ranges::all_of(visits, [](const auto& v) { return v == 1; });
}

TEST(ThreadTeam, VisitsEveryElementOnce) {
  for (const int threads : {-1, 0, 1, 2, 3, 8}) {
    const ThreadTeam team(threads);
    EXPECT_EQ(team.parallel().threads, std::max(threads, 1));
    for (const int64_t count : {0, 1, 2, 3, 7, 8, 9, 1000}) {
      EXPECT_TRUE(covers(team, count)) << threads << " threads, " << count << " elements";
    }
  }
}

TEST(ThreadTeam, WakesUpHoweverLongItWaited) {
  for (const int spin : {0, 30, 2000}) {
    const ThreadTeam team(4, {.spin_microseconds = spin});
    for (int round = 0; round < part_of(2000); ++round) ASSERT_TRUE(covers(team, 2 + round % 5));
    for (const int wait : {1, 50, 5000}) {
      std::this_thread::sleep_for(std::chrono::microseconds(wait));
      EXPECT_TRUE(covers(team, 4)) << spin << ", " << wait;
    }
  }
}

TEST(ThreadTeam, WorksOnSeveralThreads) {
  const ThreadTeam team(3, {.pin = true});
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> inside{0};
  run_on(team, 3, [&](int64_t, int64_t, int) {
    // Each holds its piece until the others have theirs: one thread alone would wait for ever.
    ++inside;
    while (inside < 3) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 3u);
  EXPECT_TRUE(threads.contains(std::this_thread::get_id())) << "the caller takes part";
}

TEST(ThreadTeam, WaitsForNoThreadThatHasNotBegun) {
  // Far more threads than processors: most are still asleep when the caller has done its piece.
  const ThreadTeam team(64, {.spin_microseconds = 0});
  std::vector<std::atomic<bool>> busy(64);
  std::atomic<bool> apart{true};
  int64_t taken = 0;
  for (int round = 0; taken == 0 && round < 10000; ++round) {
    std::atomic<int64_t> pieces_of_caller{0};
    run_on(team, 64, [&](int64_t, int64_t, int thread) {
      if (busy[static_cast<size_t>(thread)].exchange(true)) apart = false;
      if (thread == 0) ++pieces_of_caller;
      busy[static_cast<size_t>(thread)] = false;
    });
    taken = pieces_of_caller - 1;
  }
  EXPECT_GT(taken, 0);
  EXPECT_TRUE(apart) << "two pieces had the workspace of one thread at the same time";
}

#if defined(__linux__)
cpu_set_t processors_of_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

TEST(ThreadTeam, LeavesTheProcessorOfItsCaller) {
  const cpu_set_t all = processors_of_thread();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  const ThreadTeam team(2);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  // Its thread is brought here, again and again, until it has been seen elsewhere in a later round.
  bool elsewhere = false, brought = false, free = true;
  for (int round = 0; round < 10000 && !(brought && elsewhere); ++round) {
    run_on(team, 2, [&](int64_t, int64_t, int thread) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
      while (thread == 0 && std::chrono::steady_clock::now() < end) {
      }
      if (thread == 0) return;
      const cpu_set_t now = processors_of_thread();
      free = free && CPU_EQUAL(&now, &all) != 0;
      elsewhere = brought && CPU_ISSET(sched_getcpu(), &one) == 0;
      if (elsewhere) return;
      brought = sched_setaffinity(0, sizeof one, &one) == 0 &&
                sched_setaffinity(0, sizeof all, &all) == 0;
    });
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_TRUE(elsewhere);
  EXPECT_TRUE(free) << "the thread is bound to processors that nobody bound it to";
}
#endif

TEST(ThreadTeam, ServesASecondCallerAlone) {
  const ThreadTeam team(2);
  std::atomic<bool> inside{false}, leave{false};
  std::thread first([&] {
    run_on(team, 2, [&](int64_t, int64_t, int) {
      inside = true;
      while (!leave) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  int64_t pieces = 0, elements = 0;
  run_on(team, 10, [&](int64_t begin, int64_t end, int) { ++pieces, elements += end - begin; });
  EXPECT_EQ(pieces, 1);
  EXPECT_EQ(elements, 10);
  leave = true;
  first.join();
  EXPECT_TRUE(covers(team, 10));
}

TEST(ThreadTeam, StartsAnewInTheChildOfAFork) {
  ThreadTeam team(3);
  ASSERT_TRUE(covers(team, 9));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(covers(team, 9) && covers(team, 5) ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(covers(team, 9));
}

}  // namespace
}  // namespace intarsia::test
