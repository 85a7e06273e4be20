// SPDX-License-Identifier: Apache-2.0
//
// Comparisons and logical operators, core/operators/elementwise/binary_logic.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

extern const KernelList binary_comparison_kernels;
constinit const KernelList binary_comparison_kernels =
    kernel_list<EachPair<Binary, operators::Comparisons, Numbers>,
                EachPair<Binary, Join<Types<EqualOp>, operators::BoolPairs>, Types<bool>>>();

}  // namespace intarsia::cpu
