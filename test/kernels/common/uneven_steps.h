// SPDX-License-Identifier: Apache-2.0
//
// KernelContext::parallel_steps as unkind as it may be, and the same each time: on one thread, in
// parts whose number changes from step to step and whose order does, too; what can be done ahead of
// a step is done before other parts have begun with the step before.
#pragma once

#include <algorithm>

#include "intarsia/kernel.h"

namespace intarsia::test {

/// Takes the place of Parallel::share_steps.
inline void share_steps_unevenly(const Parallel& parallel, const KernelContext&,
                                 const Parallel::Steps& steps, int64_t most) {
  const int64_t threads = std::min<int64_t>(most, parallel.threads);
  // Runs of one to three steps of as many parts.
  const auto parts_of = [threads](int64_t step) {
    const auto run = static_cast<uint32_t>(step / 2 + step / 3);
    return static_cast<int>(1 + (run * 0x9e3779b1U >> 16) % threads);
  };
  for (int64_t step = 0; step < steps.count; ++step) {
    const int parts = parts_of(step), before = step > 0 ? parts_of(step - 1) : 0;
    const bool last = step + 1 == steps.count, same = !last && parts_of(step + 1) == parts;
    for (int i = 0; parts != before && i < parts; ++i) steps.ahead(steps.body, step, i, parts);
    for (int i = 0; i < parts; ++i) {
      const int part = step % 2 == 0 ? i : parts - 1 - i;
      steps.step(steps.body, step, part, parts);
      if (same) steps.ahead(steps.body, step + 1, part, parts);
    }
  }
}

}  // namespace intarsia::test
