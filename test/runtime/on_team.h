// SPDX-License-Identifier: Apache-2.0
//
// Loops on a team of threads, as a session gives them.
#pragma once

#include "intarsia/thread_team.h"

namespace intarsia::test {

/// Calls body(begin, end, thread) for pieces of [0, count).
template <class Body>
void run_on(const ThreadTeam& team, int64_t count, const Body& body) {
  const Parallel& parallel = team.parallel();
  parallel.run(
      parallel.self, count,
      [](void* argument, int64_t begin, int64_t end, int thread) {
        (*static_cast<const Body*>(argument))(begin, end, thread);
      },
      const_cast<Body*>(&body));
}

}  // namespace intarsia::test
