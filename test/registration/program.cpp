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
#include "intarsia/kernel_set.h"

constexpr intarsia::KernelSet kMore = intarsia::trusted_kernel_set<
    intarsia::LinkedKernel<intarsia::kernel_key({"Neg", "", {intarsia::DataType::kFloat}})>>();
// Volatile: the compiler must neither drop the table nor know the value before the program runs.
const intarsia::Kernel* volatile more = kMore.kernels[0];
bool started = more->run != nullptr;
#endif

int main() {
  auto session = registration_model::open(arena);
  return session.ok() && session->run().ok() ? 0 : 1;
}
