// SPDX-License-Identifier: Apache-2.0
//
// DepthToSpace and SpaceToDepth on N, C, H, W: blocks of channels become blocks of pixels and back.
// Mode DCR counts the block before the depth, CRD after it. T is a Width; elements are copied as
// bytes, on the caller's threads. https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
#include "core/operators/movement/depth_to_space.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"

namespace intarsia::cpu {
namespace {

/// Both operators pair a deep tensor [N, blocks * C, H, W] with a wide one [N, C, H * b, W * b].
/// The axes are added in the order of the output, which is the wide tensor if `widen`.
template <class E>
void copy_blocks(const KernelContext& context, bool widen) {
  const auto& a = context.attributes<BlockAttributes>();
  const TensorView& deep = widen ? context.input(0) : context.output(0);
  const TensorView& wide = widen ? context.output(0) : context.input(0);
  const int64_t b = a.blocksize, n = wide.extents[0], c = wide.extents[1];
  const int64_t h = deep.extents[2], w = deep.extents[3];
  const int64_t plane = h * w, row = w * b;  // of the deep and of the wide tensor
  const bool dcr = a.mode == BlockAttributes::kDcr;
  const int64_t deep_c = dcr ? plane : plane * b * b;  // from one channel to the next
  const int64_t deep_j = dcr ? plane * c : plane;      // one column further in the block
  struct Axis {
    int64_t extent, wide, deep;
  };
  const Axis axis_n{n, c * h * b * row, c * b * b * plane}, axis_c{c, h * b * row, deep_c},
      axis_h{h, b * row, w}, axis_i{b, row, deep_j * b}, axis_w{w, b, 1}, axis_j{b, 1, deep_j};
  StridedCopy copy;
  const auto add = [&](const Axis& axis) {
    copy.add(axis.extent, widen ? axis.wide : axis.deep, widen ? axis.deep : axis.wide);
  };
  add(axis_n);
  if (widen) {
    for (const Axis& axis : {axis_c, axis_h, axis_i, axis_w, axis_j}) add(axis);
  } else if (dcr) {
    for (const Axis& axis : {axis_i, axis_j, axis_c, axis_h, axis_w}) add(axis);
  } else {
    for (const Axis& axis : {axis_c, axis_i, axis_j, axis_h, axis_w}) add(axis);
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
