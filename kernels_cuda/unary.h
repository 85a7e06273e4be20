// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of one float input: y[i] = f(x[i]). The output may be the input.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/pointwise.h"
#include "kernels_cuda/kernel.h"

namespace intarsia::cuda {

/// An Op gives the ONNX name and the attributes; the function is an overload of `evaluate` in
/// unary.cu.
template <class Op>
struct Unary {
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

using Abs = Unary<AbsOp>;
using Ceil = Unary<CeilOp>;
using Elu = Unary<EluOp>;
using Erf = Unary<ErfOp>;
using Exp = Unary<ExpOp>;
using Floor = Unary<FloorOp>;
using Gelu = Unary<GeluOp>;
using HardSigmoid = Unary<HardSigmoidOp>;
using HardSwish = Unary<HardSwishOp>;
using LeakyRelu = Unary<LeakyReluOp>;
using Log = Unary<LogOp>;
using Neg = Unary<NegOp>;
using Reciprocal = Unary<ReciprocalOp>;
using Relu = Unary<ReluOp>;
using Sigmoid = Unary<SigmoidOp>;
using Softplus = Unary<SoftplusOp>;
using Sqrt = Unary<SqrtOp>;
using Swish = Unary<SwishOp>;
using Tanh = Unary<TanhOp>;

/// ONNX Clip: bounds are optional scalars.
struct Clip {
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

}  // namespace intarsia::cuda
