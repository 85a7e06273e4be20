// SPDX-License-Identifier: Apache-2.0
//
// DepthToSpace and SpaceToDepth, channels first or last: blocks of channels become blocks of pixels
// and back. Mode DCR counts the block before the depth, CRD after it. T is a Width; elements are
// copied as bytes, on the caller's threads. https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
#include "core/operators/movement/depth_to_space.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"

namespace intarsia::cpu {
namespace {

template <class E>
void copy_blocks(const KernelContext& context, bool widen) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const BlockAxes all(context.attributes<BlockAttributes>(), widen ? y : x, widen ? x : y, widen);
  StridedCopy copy;
  for (const BlockAxis& axis : all.axes) {
    copy.add(axis.extent, widen ? axis.wide : axis.deep, widen ? axis.deep : axis.wide);
  }
  strided_copy(context, copy, context.output(0).as<E>(), context.input(0).as<const E>());
}

template <class T>
struct DepthToSpace {
  static constexpr KernelId id{"DepthToSpace", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::DepthToSpace>(context, {.inputs = {kType}, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    copy_blocks<typename T::Element>(context, true);
    return {};
  }
};

template <class T>
struct SpaceToDepth {
  static constexpr KernelId id{"SpaceToDepth", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::SpaceToDepth>(context, {.inputs = {kType}, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    copy_blocks<typename T::Element>(context, false);
    return {};
  }
};

}  // namespace

extern const KernelList depth_to_space_kernels;
constinit const KernelList depth_to_space_kernels =
    kernel_list<Each<DepthToSpace, Widths>, Each<SpaceToDepth, Widths>>();

}  // namespace intarsia::cpu
