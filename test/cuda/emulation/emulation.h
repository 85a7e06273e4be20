// SPDX-License-Identifier: Apache-2.0
//
// The emulator's side for tests: what it found wrong, and which mistakes it shall make.
//
//     emulation::Emulator::get().reset(Order::kShuffled);
//     ... run kernels ...
//     EXPECT_TRUE(emulation::Emulator::get().violations().empty());
//
// One thread of the host at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels_cuda/common/device_emulated.h"

namespace intarsia::cuda::emulation {

/// In which order blocks run, and the threads of a block between two barriers.
enum class Order { kForward, kReverse, kShuffled };

/// A mistake that every thread makes at its access (or barrier) number `site`.
struct Mistake {
  enum Kind { kNone, kSkipBarrier, kShiftShared, kShiftGlobal } kind = kNone;
  uint64_t site = 0;
};

/// A stream of work: recorded while it is captured, else queued until somebody waits for it, as
/// late as CUDA may do it. Its address is what kernels get.
struct Stream {
  struct Work {
    enum Kind { kLaunch, kCopy, kFill } kind = kLaunch;
    unsigned blocks = 0;
    unsigned threads = 0;
    std::shared_ptr<Task> task;
    void* to = nullptr;
    const void* from = nullptr;
    size_t bytes = 0;
    int byte = 0;
  };
  bool capturing = false;
  std::vector<Work> recorded;
  std::vector<Work> queued;

  void add(Work work) { (capturing ? recorded : queued).push_back(std::move(work)); }
};

class Emulator {
 public:
  static Emulator& get();

  void reset(Order order = Order::kForward, const Mistake& mistake = {});
  /// The `call`-th call of the runtime, or launch, from now on fails with this error.
  void fail(int call, int error) {
    calls_ = 0;
    failing_call_ = call;
    failing_error_ = error;
  }
  /// What was found since `reset`, each kind of finding once per launch.
  const std::vector<std::string>& violations() const { return violations_; }
  /// The most sites of each kind that a thread of any launch came by since `reset`.
  uint64_t sites(Mistake::Kind kind) const { return most_[kind]; }
  uint64_t launches() const { return launches_; }
  uint64_t graph_launches() const { return graph_launches_; }
  /// Calls of the runtime and launches since `fail`.
  int calls() const { return calls_; }
  /// Graphs that were made and not destroyed, and memory that is locked; `reset` keeps the count.
  int& held() { return held_; }

  // For the hooks of device_emulated.h and runtime.h.
  void execute(const Stream::Work& work);
  void violation(const std::string& text);
  int call();  ///< Counts a call of the runtime; the error that it shall return.
  void count_graph_launch() { ++graph_launches_; }
  const Mistake& mistake() const { return mistake_; }

 private:
  friend struct Block;
  Order order_ = Order::kForward;
  Mistake mistake_;
  std::vector<std::string> violations_;
  uint64_t most_[4] = {};
  uint64_t launches_ = 0;
  uint64_t graph_launches_ = 0;
  int calls_ = 0;
  int failing_call_ = 0;  // 0: none
  int failing_error_ = 0;
  int held_ = 0;
};

}  // namespace intarsia::cuda::emulation
