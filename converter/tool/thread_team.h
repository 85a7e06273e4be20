// SPDX-License-Identifier: Apache-2.0
//
// A team of threads for `Parallel`: the caller takes part, the others sleep between calls.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "intarsia/kernel.h"

namespace intarsia::tool {

class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  const Parallel& parallel() const { return parallel_; }

 private:
  using Body = void (*)(void* argument, int64_t begin, int64_t end, int thread);
  void work(int thread);
  void run(int64_t count, Body body, void* argument);
  void share(int thread) const;

  Parallel parallel_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  uint64_t round_ = 0;
  int pending_ = 0;
  bool stop_ = false;
  int64_t count_ = 0;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace intarsia::tool
