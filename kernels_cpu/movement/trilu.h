// SPDX-License-Identifier: Apache-2.0
//
// Trilu: the upper (columns >= row + k) or lower (columns <= row + k) triangle of each matrix in
// the last two axes, 0 elsewhere. T is a Width: 0 is all bits 0 in every type. The output may be
// the input. https://onnx.ai/onnx/operators/onnx__Trilu.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Trilu {
  static constexpr KernelId id{"Trilu", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
