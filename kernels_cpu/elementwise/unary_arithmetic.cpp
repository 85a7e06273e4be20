// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, rounding, predicates and logic, core/operators/elementwise/unary_arithmetic.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/unary_run.h"

namespace intarsia::cpu {

extern const KernelList unary_arithmetic_kernels;
constinit const KernelList unary_arithmetic_kernels =
    kernel_list<EachPair<Unary, operators::FloatArithmetic, Floats>,
                EachPair<Unary, operators::SignedArithmetic, Join<Floats, SignedIntegers>>,
                EachPair<Unary, operators::NumberArithmetic, Numbers>,
                EachPair<Unary, operators::BoolLogic, Types<bool>>,
                EachPair<Unary, operators::IntegerLogic, Integers>>();

}  // namespace intarsia::cpu
