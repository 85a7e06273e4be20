// SPDX-License-Identifier: Apache-2.0
//
// Two kernel types that are the same to a plan: one key for both.
// BROKEN=1 only: two kernels in one kernel_set have the same key
// BROKEN=2 only: two kernels in one kernel_set have the same key
#include "intarsia/kernel_set.h"

#ifndef BROKEN
#define BROKEN 0
#endif

struct Mine {
  static constexpr intarsia::KernelId id{"Relu", "", {intarsia::DataType::kFloat}};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

// What makes the two differ: the variant, and with the same variant the revision.
struct Theirs {
  static constexpr intarsia::KernelId id{
      "Relu", BROKEN == 1 ? "" : "fast", {intarsia::DataType::kFloat}};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

struct Newer {
  static constexpr intarsia::KernelId id{
      "Relu", "", {intarsia::DataType::kFloat}, BROKEN == 2 ? 1 : 2};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

constexpr auto kKernels = intarsia::kernel_set<Mine, Theirs, Newer>();
static_assert(kKernels.kernels.size() == 3);
