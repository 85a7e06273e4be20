// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move elements of any type of a width: Transpose, Concat, and the views (Reshape and
// its kin), which are a copy where the plan could not let input and output share memory.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/movement.h"
#include "kernels_cuda/kernel.h"

namespace intarsia::cuda {

template <ElementWidth W>
struct Transpose {
  static constexpr KernelId id{"Transpose", kVariant, {W}};
  static Status check(const KernelContext& context) {
    return check_rule<ops::Transpose>(context, {.inputs = {W}, .outputs = {W}});
  }
  static Status run(const KernelContext& context);
};

template <ElementWidth W>
struct Concat {
  static constexpr KernelId id{"Concat", kVariant, {W}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// An Op gives the ONNX name. Operands beyond the first, which tell extents, are not read.
template <class Op, ElementWidth W>
struct View {
  static constexpr KernelId id{Op::name, kVariant, {W}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};
struct FlattenOp {
  static constexpr std::string_view name = "Flatten";
};
struct IdentityOp {
  static constexpr std::string_view name = "Identity";
};
struct ReshapeOp {
  static constexpr std::string_view name = "Reshape";
};
struct SqueezeOp {
  static constexpr std::string_view name = "Squeeze";
};
struct UnsqueezeOp {
  static constexpr std::string_view name = "Unsqueeze";
};
template <ElementWidth W>
using Flatten = View<FlattenOp, W>;
template <ElementWidth W>
using Identity = View<IdentityOp, W>;
template <ElementWidth W>
using Reshape = View<ReshapeOp, W>;
template <ElementWidth W>
using Squeeze = View<SqueezeOp, W>;
template <ElementWidth W>
using Unsqueeze = View<UnsqueezeOp, W>;

/// What View and the copies between memories check: the same type and number of elements.
Status check_copy(const KernelContext& context);

template <class Op, ElementWidth W>
Status View<Op, W>::check(const KernelContext& context) {
  if (Status status = check_copy(context); !status) return status;
  const DataType type = context.input(0).type;
  return KernelType(W).accepts(type)
             ? Status()
             : context.fail(Code::kWrongType, "element type of the operand",
                            static_cast<int64_t>(W), static_cast<int64_t>(type), 0);
}

}  // namespace intarsia::cuda
