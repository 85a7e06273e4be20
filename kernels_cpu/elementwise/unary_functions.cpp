// SPDX-License-Identifier: Apache-2.0
//
// The functions of <cmath>, core/operators/elementwise/unary_functions.h, in the precision of the
// element type (16-bit types: float).
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/unary_run.h"

namespace intarsia::cpu {

extern const KernelList unary_function_kernels;
constinit const KernelList unary_function_kernels =
    kernel_list<EachPair<UnaryFunction, operators::FloatFunctions, Floats>>();

}  // namespace intarsia::cpu
