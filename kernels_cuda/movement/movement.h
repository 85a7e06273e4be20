// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move elements of any type of a width: strided copies (Transpose, Slice, Expand,
// Tile, DepthToSpace, SpaceToDepth), and the views (Reshape and its kin), which are a copy where
// the plan could not let input and output share memory. Specification:
// https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/movement/depth_to_space.h"
#include "core/operators/movement/slice.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/shape/repeat_check.h"
#include "kernels_cuda/movement/widths.h"

namespace intarsia::cuda {

template <ElementWidth W>
struct Transpose : DeviceKernel {
  static constexpr KernelId id{"Transpose", kVariant, {W}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Transpose>(context, {.inputs = {W}, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

/// Starts, ends, axes and steps are constants: where elements lie is known when a graph is
/// captured.
template <ElementWidth W>
struct Slice : DeviceKernel {
  static constexpr KernelId id{"Slice", kVariant, {W}};
  static bool supports(const KernelContext& context) {
    return are_constants(context, {1, 2, 3, 4});
  }
  static Status check(const KernelContext& context) {
    const KernelType index = index_type(context.input(1));
    return check_operand_types(
        context, {.inputs = {W, index, index, index, index}, .required_inputs = 3, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

template <ElementWidth W>
struct Expand : DeviceKernel {
  static constexpr KernelId id{"Expand", kVariant, {W}};
  static Status check(const KernelContext& context) { return ops::check_repeat(context, W, true); }
  static Status run(const KernelContext& context);
};
template <ElementWidth W>
struct Tile : DeviceKernel {
  static constexpr KernelId id{"Tile", kVariant, {W}};
  static Status check(const KernelContext& context) { return ops::check_repeat(context, W, false); }
  static Status run(const KernelContext& context);
};

template <ElementWidth W>
struct DepthToSpace : DeviceKernel {
  static constexpr KernelId id{"DepthToSpace", kVariant, {W}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::DepthToSpace>(context, {.inputs = {W}, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};
template <ElementWidth W>
struct SpaceToDepth : DeviceKernel {
  static constexpr KernelId id{"SpaceToDepth", kVariant, {W}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::SpaceToDepth>(context, {.inputs = {W}, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

/// A list of extents or axes, which the shape rule has read.
enum class ListOperand : uint8_t { kNone, kOptional, kRequired };
/// What View and the copies between memories check: the same type and number of elements.
Status check_copy(const KernelContext& context, ListOperand list = ListOperand::kNone);

/// Of any element type. An Op gives the ONNX name. Operands beyond the first, which tell extents,
/// are not read.
template <class Op>
struct View : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) { return check_copy(context, Op::list); }
  static Status run(const KernelContext& context);
};
struct FlattenOp {
  static constexpr ListOperand list = ListOperand::kNone;
  static constexpr std::string_view name = "Flatten";
};
struct IdentityOp {
  static constexpr ListOperand list = ListOperand::kNone;
  static constexpr std::string_view name = "Identity";
};
struct ReshapeOp {
  static constexpr ListOperand list = ListOperand::kRequired;
  static constexpr std::string_view name = "Reshape";
};
struct SqueezeOp {
  static constexpr ListOperand list = ListOperand::kOptional;
  static constexpr std::string_view name = "Squeeze";
};
struct UnsqueezeOp {
  static constexpr ListOperand list = ListOperand::kRequired;
  static constexpr std::string_view name = "Unsqueeze";
};

using MovementKernels =
    Join<OfWidths<Transpose>, OfWidths<Slice>, OfWidths<Expand>, OfWidths<Tile>,
         OfWidths<DepthToSpace>, OfWidths<SpaceToDepth>,
         Each<View, Types<FlattenOp, IdentityOp, ReshapeOp, SqueezeOp, UnsqueezeOp>>>;

}  // namespace intarsia::cuda
