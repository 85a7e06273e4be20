// SPDX-License-Identifier: Apache-2.0
//
// Mod, core/operators/elementwise/binary_arithmetic.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

extern const KernelList binary_modulo_kernels;
constinit const KernelList binary_modulo_kernels =
    kernel_list<EachPair<Binary, Types<ModOp>, Numbers>>();

}  // namespace intarsia::cpu
