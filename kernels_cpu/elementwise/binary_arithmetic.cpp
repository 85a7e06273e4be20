// SPDX-License-Identifier: Apache-2.0
//
// Add Sub Mul Div PRelu, core/operators/elementwise/binary_arithmetic.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {

extern const KernelList binary_arithmetic_kernels;
constinit const KernelList binary_arithmetic_kernels =
    kernel_list<EachPair<Binary, operators::NumberPairs, Numbers>,
                EachPair<Binary, Types<PReluOp>, WideNumbers>>();

}  // namespace intarsia::cpu
