// SPDX-License-Identifier: Apache-2.0
//
// A team of threads that shares the work of a run, for programs that have no pool of their own.
// Link `intarsia::threads`. A program with a pool hands that one to SessionOptions::parallel
// instead (docs/threads.md shows OpenMP and others); the library itself starts no threads.
//
//     intarsia::ThreadTeam team(4);
//     intarsia::SessionOptions options;
//     options.parallel = &team.parallel();
//     auto session = intarsia::Session::open(plan, arena, kernels, options);
//
// A node's work is cut into a piece for each thread that it is worth (Parallel::grain_bytes), of
// which the calling thread takes the first, and then those that no thread has begun: it waits for
// none that sleeps or has no processor. A thread that wakes up on the caller's processor moves to
// another one (Linux; what it may use stays as it was). Between two nodes the others spin for some
// microseconds, then sleep: within a run they are usually awake, and an idle program costs nothing.
// Results are the same bits for any number of threads.
//
// Thread-safety: one session at a time has the team; what a second one asks for meanwhile, its own
// thread does alone. After a fork the child's first run starts a team of its own. Memory is taken
// and threads are started in the constructor (and after a fork), none in a run.
#pragma once

#include <cstdint>

#include "intarsia/kernel.h"

namespace intarsia {

struct ThreadTeamOptions {
  /// How long a thread without work spins before it sleeps: longer than the nodes of a model that
  /// are not shared, shorter than what a neighbour on the processor would miss.
  int32_t spin_microseconds = 50;
  /// Binds each thread but the caller's to a processor of its own, of those that the process may
  /// use (Linux; elsewhere nothing). For machines that run nothing else: a thread whose processor
  /// is taken by another program cannot evade.
  bool pin = false;
};

class ThreadTeam {
 public:
  /// `threads` counts the caller's; below 1 is 1, and a plan serves no more than it was converted
  /// for
  /// (`--threads`). Throws std::system_error if the system gives no more threads.
  explicit ThreadTeam(int threads, const ThreadTeamOptions& options = {});
  /// Waits for nothing: no session of the team may be running.
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// For SessionOptions; as long as the team lives.
  const Parallel& parallel() const { return parallel_; }

 private:
  struct Crew;
  using Body = void (*)(void* argument, int64_t begin, int64_t end, int thread);
  void run(int64_t count, Body body, void* argument);

  Parallel parallel_;
  ThreadTeamOptions options_;
  Crew* crew_;
  uint32_t forks_ = 0;
};

}  // namespace intarsia
