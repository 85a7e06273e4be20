// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of two float inputs with multidirectional broadcasting: z = f(x, y). The
// output may be an input of the same extents. Min and Max propagate NaN.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// An Op gives the ONNX name; the function is an overload of `evaluate` in binary.cu.
template <class Op>
struct Binary : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {DataType::kFloat, Op::second_type}};
  static constexpr InPlace in_place{0, 1};
  /// Operators of any number of inputs are served for two.
  static bool supports(const KernelContext& context) { return context.input_count() == 2; }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = DataType::kFloat;
    return check_operands<ops::Broadcast>(context,
                                          {.inputs = {t, t}, .required_inputs = 2, .outputs = {t}});
  }
  static Status run(const KernelContext& context);
};

struct BinaryOp {
  static constexpr KernelType second_type{};
};
struct AddOp : BinaryOp {
  static constexpr std::string_view name = "Add";
};
struct SubOp : BinaryOp {
  static constexpr std::string_view name = "Sub";
};
struct MulOp : BinaryOp {
  static constexpr std::string_view name = "Mul";
};
struct DivOp : BinaryOp {
  static constexpr std::string_view name = "Div";
};
struct MinOp : BinaryOp {
  static constexpr std::string_view name = "Min";
};
struct MaxOp : BinaryOp {
  static constexpr std::string_view name = "Max";
};
struct SumOp : BinaryOp {
  static constexpr std::string_view name = "Sum";
};
struct PReluOp : BinaryOp {
  static constexpr std::string_view name = "PRelu";
};
struct PowOp {
  static constexpr std::string_view name = "Pow";
  static constexpr KernelType second_type = DataType::kFloat;  // the exponent's
};

using BinaryKernels =
    Each<Binary, Types<AddOp, DivOp, MaxOp, MinOp, MulOp, PowOp, PReluOp, SubOp, SumOp>>;

}  // namespace intarsia::cuda
