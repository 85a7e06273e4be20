// SPDX-License-Identifier: Apache-2.0
//
// Pad: the input with elements in front of and behind each listed axis; negative pads cut. Those
// elements are a constant, or the input continued: mirrored without repeating its edge (reflect),
// by its edge (edge), or from its other end (wrap), however wide they are. T is a Width; elements
// are copied as bytes. https://onnx.ai/onnx/operators/onnx__Pad.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Pad {
  static constexpr KernelId id{"Pad", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
