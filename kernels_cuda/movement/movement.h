// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move elements of any type of a width: Transpose, Concat, and the views (Reshape and
// its kin), which are a copy where the plan could not let input and output share memory.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/transpose.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <ElementWidth W>
struct Transpose : DeviceKernel {
  static constexpr KernelId id{"Transpose", kVariant, {W}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Transpose>(context, {.inputs = {W}, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

template <ElementWidth W>
struct Concat : DeviceKernel {
  static constexpr KernelId id{"Concat", kVariant, {W}};
  static Status check(const KernelContext& context);
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

using MovementKernels = Join<
    ListOf<Transpose<ElementWidth::k8>, Transpose<ElementWidth::k16>, Transpose<ElementWidth::k32>,
           Transpose<ElementWidth::k64>, Concat<ElementWidth::k8>, Concat<ElementWidth::k16>,
           Concat<ElementWidth::k32>, Concat<ElementWidth::k64>>,
    Each<View, Types<FlattenOp, IdentityOp, ReshapeOp, SqueezeOp, UnsqueezeOp>>>;

}  // namespace intarsia::cuda
