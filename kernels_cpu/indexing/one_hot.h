// SPDX-License-Identifier: Apache-2.0
//
// OneHot: values[1] where the coordinate along the new axis is the index, values[0] elsewhere; an
// index outside [-depth, depth) selects nothing. Indices may be of any numeric type; reals are
// truncated. T is the Width of the values. https://onnx.ai/onnx/operators/onnx__OneHot.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct OneHot {
  static constexpr KernelId id{"OneHot", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
