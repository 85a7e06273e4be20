// SPDX-License-Identifier: Apache-2.0
//
// DepthToSpace and SpaceToDepth on N, C, H, W: blocks of channels become blocks of pixels and back.
// Mode DCR counts the block before the depth, CRD after it. T is a Width; elements are copied as
// bytes, on the caller's threads. https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct DepthToSpace {
  static constexpr KernelId id{"DepthToSpace", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct SpaceToDepth {
  static constexpr KernelId id{"SpaceToDepth", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
