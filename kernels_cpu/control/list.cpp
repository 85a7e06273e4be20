// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/control/if.h"

namespace intarsia::cpu {

extern const KernelList control_kernels;
constinit const KernelList control_kernels = kernel_list<If, Contradiction>();

}  // namespace intarsia::cpu
