// SPDX-License-Identifier: Apache-2.0
//
// TopK: the k largest or smallest elements along an axis and their indices, best first; of equal
// elements the one with the smaller index comes first, NaN counts as largest. The order is the
// same if `sorted` is 0. Each row keeps the best k of its elements in a heap; rows are spread over
// the caller's threads. https://onnx.ai/onnx/operators/onnx__TopK.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct TopK {
  static constexpr KernelId id{"TopK", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static int64_t workspace(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
