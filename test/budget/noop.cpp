// SPDX-License-Identifier: Apache-2.0
//
// The smallest program with a session: a plan of one node, whose kernel does nothing.
#include "budget_model.h"

namespace {

// Under the key of the kernel that the plan names; the kernel itself is not linked.
struct Nothing {
  static constexpr intarsia::KernelId id{"Neg", "", {intarsia::DataType::kFloat}};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

constexpr intarsia::KernelSet kKernels = intarsia::trusted_kernel_set<Nothing>();

alignas(budget_model::arena_alignment) std::byte arena[budget_model::arena_bytes];

}  // namespace

int main() {
  auto session = intarsia::Session::open_trusted(budget_model::plan(), arena, kKernels);
  return session.ok() && session->run().ok() ? 0 : 1;
}
