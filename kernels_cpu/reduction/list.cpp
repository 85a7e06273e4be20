// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/reduction/arg_reduce.h"
#include "kernels_cpu/reduction/cumsum.h"
#include "kernels_cpu/reduction/reduce.h"

namespace intarsia::cpu {

extern const KernelList reduction_kernels;
constinit const KernelList reduction_kernels =
    kernel_list<EachPair<Reduce,
                         Types<ReduceL1Op, ReduceL2Op, ReduceMeanOp, ReduceProdOp, ReduceSumOp,
                               ReduceSumSquareOp>,
                         WideNumbers>,
                EachPair<Reduce, Types<ReduceLogSumOp, ReduceLogSumExpOp>, Floats>,
                EachPair<Reduce, Types<ReduceMaxOp, ReduceMinOp>,
                         Join<WideNumbers, Types<int8_t, uint8_t, bool>>>,
                EachPair<ArgReduce, Types<ArgMaxOp, ArgMinOp>,
                         Join<WideNumbers, Types<int8_t, uint8_t, int16_t, uint16_t>>>,
                EachPair<Cumulative, Types<CumSumOp, CumProdOp>, WideNumbers>>();

}  // namespace intarsia::cpu
