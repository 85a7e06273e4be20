// SPDX-License-Identifier: Apache-2.0
//
// A team of threads for `Parallel`: the caller takes part, the others sleep between calls. In the
// child of a fork, which has none of these threads, the next call starts others.
#pragma once

#include <cstdint>
#include <memory>

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
  struct Crew;
  /// The threads, those of this process.
  Crew& crew();

  Parallel parallel_;
  std::unique_ptr<Crew> crew_;
  uint32_t forks_ = 0;
};

}  // namespace intarsia::tool
