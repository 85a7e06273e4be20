// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move elements of any type of a width, and lists that the host reads to launch them.
// Compiles without CUDA.
#pragma once

#include <initializer_list>

#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// K<W> for the widths of whole bytes that device code moves.
template <template <ElementWidth> class K>
using OfWidths =
    ListOf<K<ElementWidth::k8>, K<ElementWidth::k16>, K<ElementWidth::k32>, K<ElementWidth::k64>>;

/// K<W, I> for those and the types of indices.
template <template <ElementWidth, class> class K>
using OfWidthsAndIndices = ListOf<K<ElementWidth::k8, int32_t>, K<ElementWidth::k8, int64_t>,
                                  K<ElementWidth::k16, int32_t>, K<ElementWidth::k16, int64_t>,
                                  K<ElementWidth::k32, int32_t>, K<ElementWidth::k32, int64_t>,
                                  K<ElementWidth::k64, int32_t>, K<ElementWidth::k64, int64_t>>;

constexpr int bytes_of(ElementWidth width) {
  return 1 << (static_cast<int>(width) - static_cast<int>(ElementWidth::k8));
}

/// The type that a list of int32 or int64 must have: its own, or int64 if it is neither.
inline KernelType index_type(const TensorView& view) {
  return view.type == DataType::kInt32 ? DataType::kInt32 : DataType::kInt64;
}

/// For `supports`: true if those of these inputs that have elements are constants.
inline bool are_constants(const KernelContext& context, std::initializer_list<int> inputs) {
  for (const int input : inputs) {
    const TensorView& view = context.input(input);
    if (view.present() && view.data == nullptr && view.count() != 0) return false;
  }
  return true;
}

}  // namespace intarsia::cuda
