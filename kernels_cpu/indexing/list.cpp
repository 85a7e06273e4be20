// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/indexing/compress.h"
#include "kernels_cpu/indexing/gather.h"
#include "kernels_cpu/indexing/non_max_suppression.h"
#include "kernels_cpu/indexing/non_zero.h"
#include "kernels_cpu/indexing/one_hot.h"
#include "kernels_cpu/indexing/scatter.h"
#include "kernels_cpu/indexing/topk.h"
#include "kernels_cpu/indexing/unique.h"

namespace intarsia::cpu {

extern const KernelList indexing_kernels;
constinit const KernelList indexing_kernels =
    kernel_list<Each<OneHot, Widths>, Each<Compress, Widths>, EachPair<Gather, Widths, Indices>,
                EachPair<GatherElements, Widths, Indices>, Each<GatherND, Widths>,
                EachPair<ScatterElements, Widths, Indices>,
                EachPair<ScatterElementsReduce, Numbers, Indices>, Each<ScatterND, Widths>,
                Each<ScatterNDReduce, Numbers>, Each<TopK, Numbers>,
                Each<NonZero, Join<Numbers, Types<bool>>>, Each<Unique, Join<Numbers, Types<bool>>>,
                NonMaxSuppression>();

}  // namespace intarsia::cpu
