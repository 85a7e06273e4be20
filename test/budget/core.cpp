// SPDX-License-Identifier: Apache-2.0
//
// A program that links what a session needs of the core and no more: to be measured, not to be run.
#include "intarsia/session.h"

namespace {

struct Nothing {
  static constexpr intarsia::KernelId id{"test:Nothing", "", {}};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

alignas(intarsia::kArenaAlignment) std::byte arena[4096];

}  // namespace

int main(int, char** arguments) {
  const std::span<const std::byte> plan{reinterpret_cast<const std::byte*>(arguments[0]), 64};
#ifdef BUDGET_VERIFIED
  auto session = intarsia::Session::open(plan, arena, intarsia::kernel_set<Nothing>());
#else
  auto session =
      intarsia::Session::open_trusted(plan, arena, intarsia::trusted_kernel_set<Nothing>());
#endif
  return session.ok() && session->run().ok() ? 0 : 1;
}
