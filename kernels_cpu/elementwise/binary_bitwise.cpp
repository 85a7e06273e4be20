// SPDX-License-Identifier: Apache-2.0
//
// Operators of bits, core/operators/elementwise/binary_logic.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

extern const KernelList binary_bitwise_kernels;
constinit const KernelList binary_bitwise_kernels =
    kernel_list<EachPair<Binary, operators::IntegerPairs, Integers>>();

}  // namespace intarsia::cpu
