// SPDX-License-Identifier: Apache-2.0
//
// A program with a model linked in, as users write it. Built once as it is; once with ONE_TOO_MANY,
// which links a kernel that the plan does not name and has a static initialiser: what the test
// must see.
#include "registration_model.h"

namespace {

alignas(registration_model::arena_alignment) std::byte arena[registration_model::arena_bytes];

}  // namespace

#ifdef ONE_TOO_MANY
#include "kernels_cpu/unary.h"

int start();
int started = start();
int start() {
  return registration_model::plan().empty() ? 0 : 1;
}

constexpr intarsia::KernelSet kMore = intarsia::kernel_set<intarsia::cpu::Neg<float>>();
const intarsia::Kernel* volatile more = kMore.kernels.data();
#endif

int main() {
  auto session = registration_model::open(arena);
  return session.ok() && session->run().ok() ? 0 : 1;
}
