// SPDX-License-Identifier: Apache-2.0
//
// Clip: y[i] = min(max(x[i], low), high); the bounds are optional scalar inputs. Everything becomes
// `high` where low > high; NaN stays NaN. The output may be the input.
// Specification: https://onnx.ai/onnx/operators/onnx__Clip.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Clip {
  static constexpr KernelId id{"Clip", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
