// SPDX-License-Identifier: Apache-2.0
//
// Teams of threads. The one place of the C API where the library throws, and where that ends.
#include <memory>

#include "intarsia/c_kernels.h"
#include "intarsia/intarsia_host_c.h"
#include "intarsia/thread_team.h"

namespace {

struct Team : intarsia_team {
  explicit Team(int threads) : threads(threads) { parallel = &this->threads.parallel(); }
  intarsia::ThreadTeam threads;
};

}  // namespace

intarsia_team* intarsia_team_create(int32_t threads) {
  try {
    return std::make_unique<Team>(threads).release();
  } catch (...) {
    return nullptr;
  }
}

void intarsia_team_destroy(intarsia_team* team) {
  delete static_cast<Team*>(team);
}
