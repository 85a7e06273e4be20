// SPDX-License-Identifier: Apache-2.0
//
// The list of lists: one line for each source of kernels.
#include "kernels_cpu/kernels.h"

#define INTARSIA_KERNEL_LISTS(List)                                                              \
  List(control_kernels) List(binary_arithmetic_kernels) List(binary_bitwise_kernels)             \
      List(binary_comparison_kernels) List(binary_modulo_kernels) List(binary_pow_kernels)       \
          List(binary_variadic_kernels) List(cast_kernels) List(clip_kernels)                    \
              List(unary_activation_kernels) List(unary_arithmetic_kernels)                      \
                  List(unary_fast_kernels) List(unary_function_kernels) List(where_kernels)      \
                      List(indexing_kernels) List(linear_algebra_kernels) List(movement_kernels) \
                          List(nn_kernels) List(recurrent_kernels) List(reduction_kernels)       \
                              List(shape_kernels)

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
