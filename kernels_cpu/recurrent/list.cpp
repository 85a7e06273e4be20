// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/recurrent/rnn.h"

namespace intarsia::cpu {

extern const KernelList recurrent_kernels;
constinit const KernelList recurrent_kernels =
    kernel_list<Each<RecurrentPacked, Types<RnnLayer, GruLayer, LstmLayer>>,
                EachPair<Recurrent, Types<RnnLayer, GruLayer, LstmLayer>, Floats>>();

}  // namespace intarsia::cpu
