// SPDX-License-Identifier: Apache-2.0
//
// The list of lists: one line for each source of kernels.
#include "kernels_cpu/kernels.h"

#define INTARSIA_KERNEL_LISTS(List)                                                           \
  List(control_kernels) List(elementwise_kernels) List(compress_kernels) List(gather_kernels) \
      List(non_max_suppression_kernels) List(non_zero_kernels) List(one_hot_kernels)          \
          List(scatter_kernels) List(scatter_reduce_kernels) List(topk_kernels)               \
              List(unique_kernels) List(linear_algebra_kernels) List(concat_kernels)          \
                  List(depth_to_space_kernels) List(pad_kernels) List(resize_kernels)         \
                      List(resize_nearest_kernels) List(reverse_sequence_kernels)             \
                          List(slice_kernels) List(split_kernels) List(transpose_kernels)     \
                              List(trilu_kernels) List(nn_kernels) List(recurrent_kernels)    \
                                  List(arg_reduce_kernels) List(cumsum_kernels)               \
                                      List(reduce_extreme_kernels) List(reduce_sum_kernels)   \
                                          List(expand_kernels) List(extents_kernels)          \
                                              List(fill_kernels) List(range_kernels)          \
                                                  List(view_kernels)

namespace intarsia::cpu {

#define INTARSIA_DECLARE(list) extern const KernelList list;
INTARSIA_KERNEL_LISTS(INTARSIA_DECLARE)
#undef INTARSIA_DECLARE

std::span<const KernelList* const> kernel_lists() {
#define INTARSIA_ADDRESS(list) &list,
  static constexpr const KernelList* kLists[] = {INTARSIA_KERNEL_LISTS(INTARSIA_ADDRESS)};
#undef INTARSIA_ADDRESS
  return kLists;
}

}  // namespace intarsia::cpu
