// SPDX-License-Identifier: Apache-2.0
//
// How far a conversion is, for whoever waits for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <string_view>

namespace intarsia::converter {

/// Told of each stage ("reading", "inferring", "optimising", "choosing kernels", "planning memory",
/// "writing", "done") as it begins, and of the fraction of the whole that is done, from 0 to 1 and
/// never less than before; meanwhile some 50 times a second, if nodes take no longer. What it
/// throws ends the conversion, and leaves `convert` as it is.
using ProgressListener = std::function<void(std::string_view stage, double fraction)>;

/// One conversion's progress. The listener, which may be empty, must outlive it.
class Progress {
 public:
  /// Carries what a listener has thrown past the handlers of the converter's own errors.
  struct Stopped {
    std::exception_ptr cause;
  };

  explicit Progress(const ProgressListener& listener) : listener_(listener) {}

  /// The next stage begins, at whose end `end` of the whole is done.
  void begin(std::string_view stage, double end) {
    stage_ = stage;
    begin_ = end < end_ ? 0 : end_;  // else it begins again
    end_ = end;
    tell(begin_);
  }
  /// `done` of `all` parts of the stage are.
  void step(size_t done, size_t all) {
    if (!listener_ || Clock::now() - told_ < std::chrono::milliseconds(20)) return;
    tell(begin_ + (end_ - begin_) * static_cast<double>(done) / static_cast<double>(all));
  }

 private:
  using Clock = std::chrono::steady_clock;

  void tell(double fraction) {
    if (!listener_) return;
    most_ = std::max(most_, fraction);
    try {
      listener_(stage_, most_);
    } catch (...) {
      throw Stopped{std::current_exception()};
    }
    told_ = Clock::now();
  }

  const ProgressListener& listener_;
  std::string_view stage_;
  double begin_ = 0, end_ = 0, most_ = 0;
  Clock::time_point told_;
};

}  // namespace intarsia::converter
