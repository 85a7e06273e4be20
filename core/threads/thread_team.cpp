// SPDX-License-Identifier: Apache-2.0
#include "intarsia/thread_team.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "core/threads/fork_count.h"
#include "intarsia/internal/spin.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace intarsia {
namespace {

using Clock = std::chrono::steady_clock;

/// Returns when `value` is no longer `old`: spins for a while, then sleeps.
template <class T>
T wait_while(const std::atomic<T>& value, T old, Clock::duration spin) {
  constexpr int kReadsPerClock = 32;
  const Clock::time_point end = Clock::now() + spin;
  do {
    for (int i = 0; i < kReadsPerClock; ++i) {
      const T now = value.load(std::memory_order_acquire);
      if (now != old) return now;
      relax();
    }
  } while (Clock::now() < end);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

/// The processor that the calling thread is on; -1 where nothing tells.
int current_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

/// Moves the calling thread elsewhere if it is on this processor and may use others. Systems wake a
/// thread where the one is that wakes it, and may leave it there for milliseconds.
void leave_processor(int processor) {
  if (processor < 0 || processor != current_processor()) return;
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  if (sched_setaffinity(0, sizeof others, &others) != 0) return;
  // It stays where it came to be, for now: only what it may use is as before.
  static_cast<void>(sched_setaffinity(0, sizeof allowed, &allowed));
#endif
}

/// Binds `thread` to the place-th processor that the process may use.
void pin_to(std::thread& thread, int place) {
#if defined(__linux__)
  cpu_set_t allowed, own;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  int left = count > 0 ? place % count : 0;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || left-- != 0) continue;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    // A refusal leaves the thread where the system puts it.
    static_cast<void>(pthread_setaffinity_np(thread.native_handle(), sizeof own, &own));
    return;
  }
#else
  static_cast<void>(thread), static_cast<void>(place);
#endif
}

}  // namespace

/// The threads of one process. A call publishes its work by `round`, whose lowest bits say how many
/// threads take part: the others do not look at it, and need not be waited for. Each piece belongs
/// to a thread, but is done by whoever claims it first: a caller that has done its own takes what
/// nobody has begun, so that no run waits for a thread that another program keeps from a processor.
/// What one thread writes and another reads is few cache lines, as each takes a tenth of a
/// microsecond: the call, and a slot for each piece.
struct ThreadTeam::Crew {
  Crew(int threads, const ThreadTeamOptions& options)
      : size(threads), spin(options.spin_microseconds), slots(static_cast<size_t>(threads)) {
    members.reserve(static_cast<size_t>(size - 1));
    try {
      for (int thread = 1; thread < size; ++thread) {
        members.emplace_back([this, thread] { work(thread); });
        if (options.pin) pin_to(members.back(), thread);
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Crew() { stop(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void run(int64_t count, Body body, void* argument) {
    const int64_t active = count < size ? count : size;
    if (active < 2 || busy.test_and_set(std::memory_order_acquire)) {
      if (count > 0) body(argument, 0, count, 0);
      return;
    }
    call.count = count;
    call.pieces = active;
    call.body = body;
    call.argument = argument;
    call.processor.store(current_processor(), std::memory_order_relaxed);
    const Clock::time_point begin = Clock::now();
    const uint64_t round = publish(static_cast<uint64_t>(active));
    compute(0, 0);
    for (int64_t piece = active - 1; piece > 0; --piece) {
      Slot& slot = slots[static_cast<size_t>(piece)];
      if (slot.done.load(std::memory_order_acquire) == round) continue;
      if (!claim(slot, round)) continue;
      compute(piece, 0);
      slot.done.store(round, std::memory_order_relaxed);
    }
    // What is still being done takes about as long: to sleep and be woken would take longer than
    // the rest of it, and the others would sleep meanwhile, so that they are late for the next
    // call, too.
    const Clock::duration patience = std::max<Clock::duration>(spin, (Clock::now() - begin) / 2);
    for (int64_t piece = 1; piece < active; ++piece) {
      const std::atomic<uint64_t>& done = slots[static_cast<size_t>(piece)].done;
      for (uint64_t last = done.load(std::memory_order_acquire); last != round;) {
        last = wait_while(done, last, patience);
      }
    }
    busy.clear(std::memory_order_release);
  }

 private:
  static constexpr uint64_t kStop = 0xffff;

  /// What the threads are to do.
  struct alignas(64) Call {
    std::atomic<uint64_t> round{0};
    int64_t count = 0, pieces = 1;
    Body body = nullptr;
    void* argument = nullptr;
    std::atomic<int> processor{-1};  // the caller's
  };
  /// The rounds of the last calls in which a piece was claimed, and was done.
  struct alignas(64) Slot {
    std::atomic<uint64_t> claimed{0}, done{0};
  };

  uint64_t publish(uint64_t active) {
    const uint64_t round = (call.round.load(std::memory_order_relaxed) >> 16) + 1;
    call.round.store(round << 16 | active, std::memory_order_release);
    call.round.notify_all();
    return round;
  }

  /// False if the piece is another's. A thread that comes late has an older round, and gets
  /// nothing.
  static bool claim(Slot& slot, uint64_t round) {
    uint64_t seen = slot.claimed.load(std::memory_order_relaxed);
    return seen < round &&
           slot.claimed.compare_exchange_strong(seen, round, std::memory_order_acq_rel);
  }

  void stop() {
    publish(kStop);
    for (std::thread& member : members) member.join();
    members.clear();
  }

  void compute(int64_t piece, int thread) const {
    const int64_t each = call.count / call.pieces, more = call.count % call.pieces;
    const int64_t begin = each * piece + (piece < more ? piece : more);
    call.body(call.argument, begin, begin + each + (piece < more ? 1 : 0), thread);
  }

  void work(int thread) {
    Slot& slot = slots[static_cast<size_t>(thread)];
    uint64_t seen = 0;
    for (;;) {
      seen = wait_while(call.round, seen, spin);
      const uint64_t active = seen & kStop, round = seen >> 16;
      if (active == kStop) return;
      if (static_cast<uint64_t>(thread) >= active) continue;
      // What runs where the caller does only keeps it waiting.
      leave_processor(call.processor.load(std::memory_order_relaxed));
      if (!claim(slot, round)) continue;
      compute(thread, thread);
      slot.done.store(round, std::memory_order_release);
      slot.done.notify_one();
    }
  }

  const int size;
  const std::chrono::microseconds spin;
  std::atomic_flag busy;
  Call call;
  std::vector<Slot> slots;
  std::vector<std::thread> members;
};

ThreadTeam::ThreadTeam(int threads, const ThreadTeamOptions& options)
    : parallel_{this,
                threads < 1        ? 1
                : threads < 0xfffe ? threads
                                   : 0xfffe,
                [](void* self, int64_t count, Body body, void* argument) {
                  static_cast<ThreadTeam*>(self)->run(count, body, argument);
                }},
      options_(options),
      crew_(new Crew(parallel_.threads, options)),
      forks_(fork_count()) {}

ThreadTeam::~ThreadTeam() {
  if (forks_ == fork_count()) delete crew_;
}

void ThreadTeam::run(int64_t count, Body body, void* argument) {
  if (forks_ != fork_count()) {
    // Its threads are those of the parent, which cannot be joined here: the object is left behind.
    crew_ = new Crew(parallel_.threads, options_);
    forks_ = fork_count();
  }
  crew_->run(count, body, argument);
}

}  // namespace intarsia
