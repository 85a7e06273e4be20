// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/inverse.h"
#include "kernels_cpu/rows.h"

namespace intarsia::cpu {

void add_contrib_rows(KernelRows& rows) {
  add<Inverse, float, double, Float16>(rows, "Inverse", "kernels_cpu/inverse.h");
}

}  // namespace intarsia::cpu
