// SPDX-License-Identifier: Apache-2.0
//
// What operators warn of, on its way to a PyLogger. All functions need the GIL.
#pragma once

#include <string_view>

#include "intarsia/pyop.h"

namespace intarsia::pyop {

/// Says for as long as it lives which node this thread is in. They may be nested: operators may run
/// sessions.
class Called {
 public:
  Called(const PyLogger& logger, int node);
  ~Called();
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;

  /// Tells the logger, if there is one.
  void warn(std::string_view text) const;

 private:
  const PyLogger& logger_;
  int node_;
  const Called* outer_;
};

/// From now on what an operator gives to `warnings.warn` goes to its logger, too. Once in a
/// process, whose interpreter is never finalised. Throws Failure.
void watch_warnings();

}  // namespace intarsia::pyop
