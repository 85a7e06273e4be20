// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/thread_team.h"

namespace intarsia::tool {

ThreadTeam::ThreadTeam(int threads) {
  parallel_ = {this, threads, [](void* self, int64_t count, Body body, void* argument) {
                 static_cast<ThreadTeam*>(self)->run(count, body, argument);
               }};
  for (int thread = 1; thread < threads; ++thread) {
    threads_.emplace_back([this, thread] { work(thread); });
  }
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::share(int thread) const {
  const int64_t begin = count_ * thread / parallel_.threads;
  const int64_t end = count_ * (thread + 1) / parallel_.threads;
  if (begin < end) body_(argument_, begin, end, thread);
}

void ThreadTeam::run(int64_t count, Body body, void* argument) {
  {
    const std::lock_guard lock(mutex_);
    count_ = count;
    body_ = body;
    argument_ = argument;
    pending_ = parallel_.threads - 1;
    ++round_;
  }
  start_.notify_all();
  share(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return pending_ == 0; });
}

void ThreadTeam::work(int thread) {
  uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    share(thread);
    const std::lock_guard lock(mutex_);
    if (--pending_ == 0) done_.notify_one();
  }
}

}  // namespace intarsia::tool
