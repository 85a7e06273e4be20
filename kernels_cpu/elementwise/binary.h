// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of several inputs with multidirectional broadcasting: z[i] = f(x[i],
// y[i]).
//
// `Binary<Op, T>` takes two inputs of one type, `Variadic<Op, T>` any number, folded from the left,
// `Pow<T, U>` a base and an exponent of different types. An Op gives the ONNX name, the attributes
// and, by an overload of `evaluate` in the binary_*.cpp file that instantiates it, the function.
// The output may be input 0 or input 1 where their sizes agree: each element is read before the one
// at the same position is written. Integers wrap around; Min and Max propagate NaN.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class Op, class T>
struct Binary {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0, 1};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class Op, class T>
struct Variadic {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place = InPlace::every();
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// An integer base to a negative integer exponent is an error, as in numpy.
template <class T, class U>
struct Pow {
  static constexpr KernelId id{"Pow", "", {kernel_type_of<T>, kernel_type_of<U>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// What every Op has: ONNX name, attributes, and the element type of the result for inputs of T.
template <class A = NoAttributes>
struct BinaryOp {
  using Attributes = A;
  template <class T>
  using Result = T;
};
struct Comparison {
  using Attributes = NoAttributes;
  template <class T>
  using Result = bool;
};

struct AddOp : BinaryOp<> {
  static constexpr std::string_view name = "Add";
};
struct SubOp : BinaryOp<> {
  static constexpr std::string_view name = "Sub";
};
struct MulOp : BinaryOp<> {
  static constexpr std::string_view name = "Mul";
};
struct DivOp : BinaryOp<> {
  static constexpr std::string_view name = "Div";
};
struct ModOp : BinaryOp<ModAttributes> {
  static constexpr std::string_view name = "Mod";
};
struct AndOp : BinaryOp<> {
  static constexpr std::string_view name = "And";
};
struct OrOp : BinaryOp<> {
  static constexpr std::string_view name = "Or";
};
struct XorOp : BinaryOp<> {
  static constexpr std::string_view name = "Xor";
};
struct EqualOp : Comparison {
  static constexpr std::string_view name = "Equal";
};
struct LessOp : Comparison {
  static constexpr std::string_view name = "Less";
};
struct LessOrEqualOp : Comparison {
  static constexpr std::string_view name = "LessOrEqual";
};
struct GreaterOp : Comparison {
  static constexpr std::string_view name = "Greater";
};
struct GreaterOrEqualOp : Comparison {
  static constexpr std::string_view name = "GreaterOrEqual";
};
struct BitShiftOp : BinaryOp<BitShiftAttributes> {
  static constexpr std::string_view name = "BitShift";
};
struct BitwiseAndOp : BinaryOp<> {
  static constexpr std::string_view name = "BitwiseAnd";
};
struct BitwiseOrOp : BinaryOp<> {
  static constexpr std::string_view name = "BitwiseOr";
};
struct BitwiseXorOp : BinaryOp<> {
  static constexpr std::string_view name = "BitwiseXor";
};
struct PReluOp : BinaryOp<> {
  static constexpr std::string_view name = "PRelu";
};
struct MinOp : BinaryOp<> {
  static constexpr std::string_view name = "Min";
};
struct MaxOp : BinaryOp<> {
  static constexpr std::string_view name = "Max";
};
struct SumOp : BinaryOp<> {
  static constexpr std::string_view name = "Sum";
};
struct MeanOp : BinaryOp<> {
  static constexpr std::string_view name = "Mean";
};

template <class T>
using Add = Binary<AddOp, T>;
template <class T>
using Sub = Binary<SubOp, T>;
template <class T>
using Mul = Binary<MulOp, T>;
template <class T>
using Div = Binary<DivOp, T>;
template <class T>
using Mod = Binary<ModOp, T>;
template <class T>
using And = Binary<AndOp, T>;
template <class T>
using Or = Binary<OrOp, T>;
template <class T>
using Xor = Binary<XorOp, T>;
template <class T>
using Equal = Binary<EqualOp, T>;
template <class T>
using Less = Binary<LessOp, T>;
template <class T>
using LessOrEqual = Binary<LessOrEqualOp, T>;
template <class T>
using Greater = Binary<GreaterOp, T>;
template <class T>
using GreaterOrEqual = Binary<GreaterOrEqualOp, T>;
template <class T>
using BitShift = Binary<BitShiftOp, T>;
template <class T>
using BitwiseAnd = Binary<BitwiseAndOp, T>;
template <class T>
using BitwiseOr = Binary<BitwiseOrOp, T>;
template <class T>
using BitwiseXor = Binary<BitwiseXorOp, T>;
template <class T>
using PRelu = Binary<PReluOp, T>;
template <class T>
using Min = Variadic<MinOp, T>;
template <class T>
using Max = Variadic<MaxOp, T>;
template <class T>
using Sum = Variadic<SumOp, T>;
template <class T>
using Mean = Variadic<MeanOp, T>;

}  // namespace intarsia::cpu
