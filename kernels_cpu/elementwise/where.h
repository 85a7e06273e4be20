// SPDX-License-Identifier: Apache-2.0
//
// Where: z[i] = c[i] ? x[i] : y[i], all three broadcast together. Moves elements of any type of the
// width W. The output may be x or y where the sizes agree.
// Specification: https://onnx.ai/onnx/operators/onnx__Where.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class W>
struct Where {
  static constexpr KernelId id{"Where", "", {kernel_type_of<W>}};
  static constexpr InPlace in_place{1, 2};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
