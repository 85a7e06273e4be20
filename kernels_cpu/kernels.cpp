// SPDX-License-Identifier: Apache-2.0
//
// The list of lists: one name for each source of kernels.
#include "kernels_cpu/kernels.h"

#define INTARSIA_KERNEL_LISTS(List)                                                               \
  List(conv_kernels), List(conv_depthwise_kernels), List(conv_packed_kernels),                    \
      List(conv_transpose_kernels), List(elementwise_kernels), List(gemm_kernels),                \
      List(gemm_packed_kernels), List(if_kernels), List(indexing_kernels), List(inverse_kernels), \
      List(lrn_kernels), List(matmul_kernels), List(matmul_computed_kernels),                     \
      List(matmul_packed_kernels), List(movement_kernels), List(normalization_axes_kernels),      \
      List(normalization_batch_kernels), List(normalization_groups_kernels),                      \
      List(normalization_layer_kernels), List(pool_global_kernels), List(pool_max_kernels),       \
      List(pool_sum_kernels), List(reduction_kernels), List(rnn_kernels),                         \
      List(rnn_packed_kernels), List(shape_kernels), List(softmax_kernels),                       \
      List(softmax_fast_kernels)

namespace intarsia::cpu {

#define INTARSIA_NAME(list) list
extern const KernelList INTARSIA_KERNEL_LISTS(INTARSIA_NAME);
#undef INTARSIA_NAME

std::span<const KernelList* const> kernel_lists() {
#define INTARSIA_ADDRESS(list) &list
  static constexpr const KernelList* kLists[] = {INTARSIA_KERNEL_LISTS(INTARSIA_ADDRESS)};
#undef INTARSIA_ADDRESS
  return kLists;
}

}  // namespace intarsia::cpu
