// SPDX-License-Identifier: Apache-2.0
//
// FirstFailure: the first of the elements that are wrong, whichever thread comes to which of them
// first. Threads note what they find; once all are done, the kernel reports one error.
#pragma once

#include <atomic>
#include <cstdint>

namespace intarsia::cpu {

class FirstFailure {
 public:
  /// Of any thread. An index that 32 bits do not hold counts as the last that they do: wider
  /// atomics would be locks on small processors.
  void note(int64_t index) {
    const auto found = static_cast<uint32_t>(index < kNone ? index : kNone - 1);
    uint32_t first = first_.load();
    while (found < first && !first_.compare_exchange_weak(first, found)) {
    }
  }

  bool any() const { return first_.load() != kNone; }
  int64_t index() const { return first_.load(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::atomic<uint32_t> first_{kNone};
};

}  // namespace intarsia::cpu
