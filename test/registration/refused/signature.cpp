// SPDX-License-Identifier: Apache-2.0
//
// Types that are no kernels: the message says what a kernel needs.
// BROKEN=1: a kernel needs `static constexpr KernelId id` and
// BROKEN=2: `static Status run\(const KernelContext&\)`
// BROKEN=3: a kernel needs `static constexpr KernelId id` and
#include "intarsia/kernel_set.h"

struct Good {
  static constexpr intarsia::KernelId id{"test:Good", ""};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

struct WrongParameter {
  static constexpr intarsia::KernelId id{"test:WrongParameter", ""};
  static intarsia::Status run(intarsia::KernelContext&) { return {}; }
};

struct WrongResult {
  static constexpr intarsia::KernelId id{"test:WrongResult", ""};
  static bool run(const intarsia::KernelContext&) { return true; }
};

struct Nameless {
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

#if BROKEN == 1
using Kernel = WrongParameter;
#elif BROKEN == 2
using Kernel = WrongResult;
#elif BROKEN == 3
using Kernel = Nameless;
#else
using Kernel = Good;
#endif

constexpr auto kKernels = intarsia::kernel_set<Kernel>();
static_assert(kKernels.kernels.size() == 1);
