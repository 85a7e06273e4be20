// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of one input: y[i] = f(x[i]).
//
// One kernel template, `Unary<Op, T>`; an Op gives the ONNX name, the attributes, and, by an
// overload of `evaluate` in the unary_*.cpp file that instantiates it, the function. NaN gives NaN
// unless the specification says otherwise. The output may be the input: each element is read before
// the one at the same position is written. Large tensors are spread over the context's threads.
// `FastUnary<Op, float>` (variant "fast") computes a few functions with polynomials on the vectors
// of the instruction set at hand; kernels_cpu/math/vector_math.h states their accuracy.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class Op, class T>
struct Unary {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class Op, class T>
struct FastUnary {
  static constexpr KernelId id{Op::name, "fast", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// What every Op has: ONNX name, attributes, and the element type of the result for inputs of T.
template <class A = NoAttributes>
struct UnaryOp {
  using Attributes = A;
  template <class T>
  using Result = T;
};
template <class A = NoAttributes>
struct UnaryPredicate {
  using Attributes = A;
  template <class T>
  using Result = bool;
};

struct AbsOp : UnaryOp<> {
  static constexpr std::string_view name = "Abs";
};
struct AcosOp : UnaryOp<> {
  static constexpr std::string_view name = "Acos";
};
struct AcoshOp : UnaryOp<> {
  static constexpr std::string_view name = "Acosh";
};
struct AsinOp : UnaryOp<> {
  static constexpr std::string_view name = "Asin";
};
struct AsinhOp : UnaryOp<> {
  static constexpr std::string_view name = "Asinh";
};
struct AtanOp : UnaryOp<> {
  static constexpr std::string_view name = "Atan";
};
struct AtanhOp : UnaryOp<> {
  static constexpr std::string_view name = "Atanh";
};
struct BitwiseNotOp : UnaryOp<> {
  static constexpr std::string_view name = "BitwiseNot";
};
struct CeilOp : UnaryOp<> {
  static constexpr std::string_view name = "Ceil";
};
struct CeluOp : UnaryOp<AlphaAttributes> {
  static constexpr std::string_view name = "Celu";
};
struct CosOp : UnaryOp<> {
  static constexpr std::string_view name = "Cos";
};
struct CoshOp : UnaryOp<> {
  static constexpr std::string_view name = "Cosh";
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
struct IsInfOp : UnaryPredicate<IsInfAttributes> {
  static constexpr std::string_view name = "IsInf";
};
struct IsNaNOp : UnaryPredicate<> {
  static constexpr std::string_view name = "IsNaN";
};
struct LeakyReluOp : UnaryOp<LeakyReluAttributes> {
  static constexpr std::string_view name = "LeakyRelu";
};
struct LogOp : UnaryOp<> {
  static constexpr std::string_view name = "Log";
};
struct MishOp : UnaryOp<> {
  static constexpr std::string_view name = "Mish";
};
struct NegOp : UnaryOp<> {
  static constexpr std::string_view name = "Neg";
};
struct NotOp : UnaryOp<> {
  static constexpr std::string_view name = "Not";
};
struct ReciprocalOp : UnaryOp<> {
  static constexpr std::string_view name = "Reciprocal";
};
struct ReluOp : UnaryOp<> {
  static constexpr std::string_view name = "Relu";
};
struct RoundOp : UnaryOp<> {
  static constexpr std::string_view name = "Round";
};
struct SeluOp : UnaryOp<SeluAttributes> {
  static constexpr std::string_view name = "Selu";
};
struct SigmoidOp : UnaryOp<> {
  static constexpr std::string_view name = "Sigmoid";
};
struct SignOp : UnaryOp<> {
  static constexpr std::string_view name = "Sign";
};
struct SinOp : UnaryOp<> {
  static constexpr std::string_view name = "Sin";
};
struct SinhOp : UnaryOp<> {
  static constexpr std::string_view name = "Sinh";
};
struct SoftplusOp : UnaryOp<> {
  static constexpr std::string_view name = "Softplus";
};
struct SoftsignOp : UnaryOp<> {
  static constexpr std::string_view name = "Softsign";
};
struct SqrtOp : UnaryOp<> {
  static constexpr std::string_view name = "Sqrt";
};
struct SwishOp : UnaryOp<AlphaAttributes> {
  static constexpr std::string_view name = "Swish";
};
struct TanOp : UnaryOp<> {
  static constexpr std::string_view name = "Tan";
};
struct TanhOp : UnaryOp<> {
  static constexpr std::string_view name = "Tanh";
};
struct ThresholdedReluOp : UnaryOp<AlphaAttributes> {
  static constexpr std::string_view name = "ThresholdedRelu";
};

template <class T>
using Abs = Unary<AbsOp, T>;
template <class T>
using Acos = Unary<AcosOp, T>;
template <class T>
using Acosh = Unary<AcoshOp, T>;
template <class T>
using Asin = Unary<AsinOp, T>;
template <class T>
using Asinh = Unary<AsinhOp, T>;
template <class T>
using Atan = Unary<AtanOp, T>;
template <class T>
using Atanh = Unary<AtanhOp, T>;
template <class T>
using BitwiseNot = Unary<BitwiseNotOp, T>;
template <class T>
using Ceil = Unary<CeilOp, T>;
template <class T>
using Celu = Unary<CeluOp, T>;
template <class T>
using Cos = Unary<CosOp, T>;
template <class T>
using Cosh = Unary<CoshOp, T>;
template <class T>
using Elu = Unary<EluOp, T>;
template <class T>
using Erf = Unary<ErfOp, T>;
template <class T>
using Exp = Unary<ExpOp, T>;
template <class T>
using Floor = Unary<FloorOp, T>;
template <class T>
using Gelu = Unary<GeluOp, T>;
template <class T>
using HardSigmoid = Unary<HardSigmoidOp, T>;
template <class T>
using HardSwish = Unary<HardSwishOp, T>;
template <class T>
using IsInf = Unary<IsInfOp, T>;
template <class T>
using IsNaN = Unary<IsNaNOp, T>;
template <class T>
using LeakyRelu = Unary<LeakyReluOp, T>;
template <class T>
using Log = Unary<LogOp, T>;
template <class T>
using Mish = Unary<MishOp, T>;
template <class T>
using Neg = Unary<NegOp, T>;
template <class T>
using Not = Unary<NotOp, T>;
template <class T>
using Reciprocal = Unary<ReciprocalOp, T>;
template <class T>
using Relu = Unary<ReluOp, T>;
template <class T>
using Round = Unary<RoundOp, T>;
template <class T>
using Selu = Unary<SeluOp, T>;
template <class T>
using Sigmoid = Unary<SigmoidOp, T>;
template <class T>
using Sign = Unary<SignOp, T>;
template <class T>
using Sin = Unary<SinOp, T>;
template <class T>
using Sinh = Unary<SinhOp, T>;
template <class T>
using Softplus = Unary<SoftplusOp, T>;
template <class T>
using Softsign = Unary<SoftsignOp, T>;
template <class T>
using Sqrt = Unary<SqrtOp, T>;
template <class T>
using Swish = Unary<SwishOp, T>;
template <class T>
using Tan = Unary<TanOp, T>;
template <class T>
using Tanh = Unary<TanhOp, T>;
template <class T>
using ThresholdedRelu = Unary<ThresholdedReluOp, T>;

template <class T>
using FastElu = FastUnary<EluOp, T>;
template <class T>
using FastErf = FastUnary<ErfOp, T>;
template <class T>
using FastExp = FastUnary<ExpOp, T>;
template <class T>
using FastGelu = FastUnary<GeluOp, T>;
template <class T>
using FastMish = FastUnary<MishOp, T>;
template <class T>
using FastSigmoid = FastUnary<SigmoidOp, T>;
template <class T>
using FastSoftplus = FastUnary<SoftplusOp, T>;
template <class T>
using FastSwish = FastUnary<SwishOp, T>;
template <class T>
using FastTanh = FastUnary<TanhOp, T>;

}  // namespace intarsia::cpu
