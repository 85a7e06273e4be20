// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

namespace intarsia::tool {
namespace {

class Line {
 public:
  Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() { clear(); }

  void show(std::string_view stage, double fraction) {
    if (fraction >= 1) {
      clear();
    } else if (std::chrono::steady_clock::now() - begin_ >= std::chrono::seconds(1)) {
      fmt::print(stderr, "{}{:3.0f} % {}", kBegin, 100 * fraction, stage);
      std::fflush(stderr);
      shown_ = true;
    }
  }

 private:
  /// Back to the line's begin, and what stands there goes.
  static constexpr const char* kBegin = "\r\x1b[K";

  void clear() {
    if (shown_) std::fputs(kBegin, stderr);
    shown_ = false;
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

}  // namespace

converter::ProgressListener progress_line() {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [line = std::make_shared<Line>()](std::string_view stage, double fraction) {
    line->show(stage, fraction);
  };
}

}  // namespace intarsia::tool
