// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/thread_team.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "converter/tool/fork_count.h"

namespace intarsia::tool {

using Body = void (*)(void* argument, int64_t begin, int64_t end, int thread);

struct ThreadTeam::Crew {
  explicit Crew(int count) : size(count) {
    for (int thread = 1; thread < size; ++thread) {
      threads.emplace_back([this, thread] { work(thread); });
    }
  }
  ~Crew() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    start.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void share(int thread) const {
    const int64_t begin = count * thread / size;
    const int64_t end = count * (thread + 1) / size;
    if (begin < end) body(argument, begin, end, thread);
  }

  void run(int64_t new_count, Body new_body, void* new_argument) {
    {
      const std::lock_guard lock(mutex);
      count = new_count;
      body = new_body;
      argument = new_argument;
      pending = size - 1;
      ++round;
    }
    start.notify_all();
    share(0);
    std::unique_lock lock(mutex);
    done.wait(lock, [this] { return pending == 0; });
  }

  void work(int thread) {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        start.wait(lock, [&] { return stop || round != seen; });
        if (stop) return;
        seen = round;
      }
      share(thread);
      const std::lock_guard lock(mutex);
      if (--pending == 0) done.notify_one();
    }
  }

  const int size;
  std::mutex mutex;
  std::condition_variable start, done;
  uint64_t round = 0;
  int pending = 0;
  bool stop = false;
  int64_t count = 0;
  Body body = nullptr;
  void* argument = nullptr;
  std::vector<std::thread> threads;
};

ThreadTeam::ThreadTeam(int threads)
    : parallel_{this, threads,
                [](void* self, int64_t count, Body body, void* argument) {
                  static_cast<ThreadTeam*>(self)->crew().run(count, body, argument);
                }},
      crew_(std::make_unique<Crew>(threads)),
      forks_(fork_count()) {}

ThreadTeam::~ThreadTeam() {
  if (forks_ != fork_count()) static_cast<void>(crew_.release());
}

ThreadTeam::Crew& ThreadTeam::crew() {
  if (forks_ != fork_count()) {
    // Its threads are those of the parent, which cannot be joined here, and its locks are in the
    // state in which they left them: the object stays as it is, and is lost.
    static_cast<void>(crew_.release());
    crew_ = std::make_unique<Crew>(parallel_.threads);
    forks_ = fork_count();
  }
  return *crew_;
}

}  // namespace intarsia::tool
