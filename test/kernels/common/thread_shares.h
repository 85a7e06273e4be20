// SPDX-License-Identifier: Apache-2.0
//
// What each thread does of a kernel's work, without threads: they take their parts one after the
// other, as many units each as those of a ThreadTeam, and the bytes of the output that change
// meanwhile are that thread's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "intarsia/kernel.h"

namespace intarsia::test {

class ThreadShares {
 public:
  struct Share {
    int64_t bytes = 0;
    int64_t first = -1, last = -1;  ///< Positions of such bytes.
  };

  explicit ThreadShares(int threads) : shares_(static_cast<size_t>(threads)) {}

  /// To be used while this object lives; `output` is what a kernel writes.
  Parallel watch(std::span<const uint8_t> output) {
    output_ = output;
    Parallel parallel;
    parallel.self = this;
    parallel.threads = static_cast<int>(shares_.size());
    parallel.grain_bytes = 0;
    parallel.run = [](void* self, int64_t count, Parallel::Body body, void* argument) {
      static_cast<ThreadShares*>(self)->run(count, body, argument);
    };
    return parallel;
  }

  std::span<const Share> shares() const { return shares_; }
  /// How much more than an equal share one thread has, in percent.
  int64_t unevenness() const {
    int64_t all = 0, most = 0;
    for (const Share& share : shares_) {
      all += share.bytes;
      most = std::max(most, share.bytes);
    }
    return all == 0 ? 0 : most * static_cast<int64_t>(shares_.size()) * 100 / all - 100;
  }

 private:
  void run(int64_t count, Parallel::Body body, void* argument) {
    const auto threads = static_cast<int64_t>(shares_.size());
    std::vector<uint8_t> before(output_.begin(), output_.end());
    for (int64_t thread = 0, begin = 0, end; thread < threads; ++thread, begin = end) {
      end = begin + count / threads + (thread < count % threads ? 1 : 0);
      if (begin == end) continue;
      body(argument, begin, end, static_cast<int>(thread));
      Share& share = shares_[static_cast<size_t>(thread)];
      for (size_t i = 0; i < before.size(); ++i) {
        if (before[i] == output_[i]) continue;
        before[i] = output_[i];
        const auto at = static_cast<int64_t>(i);
        share.first = share.first < 0 ? at : std::min(share.first, at);
        share.last = std::max(share.last, at);
        ++share.bytes;
      }
    }
  }

  std::vector<Share> shares_;
  std::span<const uint8_t> output_;
};

}  // namespace intarsia::test
