// SPDX-License-Identifier: Apache-2.0
//
// Activation functions, core/operators/elementwise/unary_activations.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/unary_run.h"

namespace intarsia::cpu {

extern const KernelList unary_activation_kernels;
constinit const KernelList unary_activation_kernels =
    kernel_list<EachPair<Unary, operators::FloatActivations, Floats>,
                EachPair<Unary, operators::SignedActivations, Join<Floats, SignedIntegers>>>();

}  // namespace intarsia::cpu
