// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of one float input: y[i] = f(x[i]). The output may be the input.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// An Op gives the ONNX name and the attributes; the function is an overload of `evaluate` in
/// unary.cu.
template <class Op>
struct Unary : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {DataType::kFloat}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    if (Status status = check_attributes<typename Op::Attributes>(context); !status) return status;
    return check_operands<ops::SameShape>(
        context, {.inputs = {DataType::kFloat}, .outputs = {DataType::kFloat}});
  }
  static Status run(const KernelContext& context);
};

template <class A = NoAttributes>
struct UnaryOp {
  using Attributes = A;
};
struct AbsOp : UnaryOp<> {
  static constexpr std::string_view name = "Abs";
};
struct CeilOp : UnaryOp<> {
  static constexpr std::string_view name = "Ceil";
};
struct EluOp : UnaryOp<AlphaAttributes> {
  static constexpr std::string_view name = "Elu";
};
struct ErfOp : UnaryOp<> {
  static constexpr std::string_view name = "Erf";
};
struct ExpOp : UnaryOp<> {
  static constexpr std::string_view name = "Exp";
};
struct FloorOp : UnaryOp<> {
  static constexpr std::string_view name = "Floor";
};
struct GeluOp : UnaryOp<GeluAttributes> {
  static constexpr std::string_view name = "Gelu";
};
struct HardSigmoidOp : UnaryOp<HardSigmoidAttributes> {
  static constexpr std::string_view name = "HardSigmoid";
};
struct HardSwishOp : UnaryOp<> {
  static constexpr std::string_view name = "HardSwish";
};
struct LeakyReluOp : UnaryOp<LeakyReluAttributes> {
  static constexpr std::string_view name = "LeakyRelu";
};
struct LogOp : UnaryOp<> {
  static constexpr std::string_view name = "Log";
};
struct NegOp : UnaryOp<> {
  static constexpr std::string_view name = "Neg";
};
struct ReciprocalOp : UnaryOp<> {
  static constexpr std::string_view name = "Reciprocal";
};
struct ReluOp : UnaryOp<> {
  static constexpr std::string_view name = "Relu";
};
struct SigmoidOp : UnaryOp<> {
  static constexpr std::string_view name = "Sigmoid";
};
struct SoftplusOp : UnaryOp<> {
  static constexpr std::string_view name = "Softplus";
};
struct SqrtOp : UnaryOp<> {
  static constexpr std::string_view name = "Sqrt";
};
struct SwishOp : UnaryOp<AlphaAttributes> {
  static constexpr std::string_view name = "Swish";
};
struct TanhOp : UnaryOp<> {
  static constexpr std::string_view name = "Tanh";
};

/// ONNX Clip: bounds are optional scalars.
struct Clip : DeviceKernel {
  static constexpr KernelId id{"Clip", kVariant, {DataType::kFloat}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

inline Status Clip::check(const KernelContext& context) {
  constexpr KernelType t = DataType::kFloat;
  const OperandTypes types{.inputs = {t, t, t}, .outputs = {t}};
  if (Status status = check_operands<ops::SameShape>(context, types); !status) return status;
  for (int i = 1; i <= 2; ++i) {
    const TensorView& bound = context.input(i);
    if (!bound.present() || bound.count() == 1) continue;
    return context.fail(Code::kWrongExtent, "elements of a bound", 1, bound.count(), i);
  }
  return {};
}

using UnaryKernels =
    Join<ListOf<Clip>,
         Each<Unary, Types<AbsOp, CeilOp, EluOp, ErfOp, ExpOp, FloorOp, GeluOp, HardSigmoidOp,
                           HardSwishOp, LeakyReluOp, LogOp, NegOp, ReciprocalOp, ReluOp, SigmoidOp,
                           SoftplusOp, SqrtOp, SwishOp, TanhOp>>>;

}  // namespace intarsia::cuda
