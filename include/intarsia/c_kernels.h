// SPDX-License-Identifier: Apache-2.0
//
// What C++ code of a program hands to its C code: a kernel set, and threads.
//
//     constexpr intarsia_kernels kKernels{[] { return intarsia::kernel_set<Relu, Gemm>(); }};
//     extern "C" const intarsia_kernels* my_kernels(void) { return &kKernels; }
//
// `intarsia_add_model(... C)` writes this for a model that is linked in. Both types are constant
// data of the program's: they outlive the sessions that use them.
#pragma once

#include "intarsia/intarsia_c.h"
#include "intarsia/kernel_set.h"

/// A kernel set as C sees it: a function that gives it, so that it is a constant even where the set
/// is that of another translation unit.
struct intarsia_kernels {
  intarsia::KernelSet (*set)() = nullptr;
};

/// Threads as C sees them: a `ThreadTeam`, or the program's own pool ("intarsia/kernel.h").
struct intarsia_team {
  const intarsia::Parallel* parallel = nullptr;
};
