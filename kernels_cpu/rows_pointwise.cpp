// SPDX-License-Identifier: Apache-2.0
//
// Kernels of element-wise operators.
#include "kernels_cpu/binary.h"
#include "kernels_cpu/cast.h"
#include "kernels_cpu/clip.h"
#include "kernels_cpu/rows.h"
#include "kernels_cpu/unary.h"
#include "kernels_cpu/where.h"

namespace intarsia::cpu {
namespace {

constexpr std::string_view kUnary = "kernels_cpu/unary.h";
constexpr std::string_view kBinary = "kernels_cpu/binary.h";

template <template <class> class K>
void add_floats(KernelRows& rows, const std::string& name, std::string_view header) {
  add<K, float, double, Float16, BFloat16>(rows, name, header);
}
template <template <class> class K>
void add_signed(KernelRows& rows, const std::string& name, std::string_view header) {
  add<K, int8_t, int16_t, int32_t, int64_t>(rows, name, header);
}
template <template <class> class K>
void add_integers(KernelRows& rows, const std::string& name, std::string_view header) {
  add_signed<K>(rows, name, header);
  add<K, uint8_t, uint16_t, uint32_t, uint64_t>(rows, name, header);
}
template <template <class> class K>
void add_numbers(KernelRows& rows, const std::string& name, std::string_view header) {
  add_floats<K>(rows, name, header);
  add_integers<K>(rows, name, header);
}

/// Pairs of A with every number.
template <template <class, class> class K, class A>
void add_pairs_with_numbers(KernelRows& rows, const std::string& name, std::string_view header) {
  add_pairs<K, A, float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
            uint16_t, uint32_t, uint64_t>(rows, name, header);
}
template <class... In>
void add_casts(KernelRows& rows) {
  (add_pairs_with_numbers<Cast, In>(rows, "Cast", "kernels_cpu/cast.h"), ...);
  (add_pairs<Cast, In, bool>(rows, "Cast", "kernels_cpu/cast.h"), ...);
}

void add_unary_rows(KernelRows& rows) {
  add<FastElu, float>(rows, "FastElu", kUnary);
  add<FastErf, float>(rows, "FastErf", kUnary);
  add<FastExp, float>(rows, "FastExp", kUnary);
  add<FastGelu, float>(rows, "FastGelu", kUnary);
  add<FastMish, float>(rows, "FastMish", kUnary);
  add<FastSigmoid, float>(rows, "FastSigmoid", kUnary);
  add<FastSoftplus, float>(rows, "FastSoftplus", kUnary);
  add<FastSwish, float>(rows, "FastSwish", kUnary);
  add<FastTanh, float>(rows, "FastTanh", kUnary);
  add_floats<Acos>(rows, "Acos", kUnary);
  add_floats<Acosh>(rows, "Acosh", kUnary);
  add_floats<Asin>(rows, "Asin", kUnary);
  add_floats<Asinh>(rows, "Asinh", kUnary);
  add_floats<Atan>(rows, "Atan", kUnary);
  add_floats<Atanh>(rows, "Atanh", kUnary);
  add_floats<Ceil>(rows, "Ceil", kUnary);
  add_floats<Celu>(rows, "Celu", kUnary);
  add_floats<Cos>(rows, "Cos", kUnary);
  add_floats<Cosh>(rows, "Cosh", kUnary);
  add_floats<Elu>(rows, "Elu", kUnary);
  add_floats<Erf>(rows, "Erf", kUnary);
  add_floats<Exp>(rows, "Exp", kUnary);
  add_floats<Floor>(rows, "Floor", kUnary);
  add_floats<Gelu>(rows, "Gelu", kUnary);
  add_floats<HardSigmoid>(rows, "HardSigmoid", kUnary);
  add_floats<HardSwish>(rows, "HardSwish", kUnary);
  add_floats<IsInf>(rows, "IsInf", kUnary);
  add_floats<IsNaN>(rows, "IsNaN", kUnary);
  add_floats<LeakyRelu>(rows, "LeakyRelu", kUnary);
  add_floats<Log>(rows, "Log", kUnary);
  add_floats<Mish>(rows, "Mish", kUnary);
  add_floats<Reciprocal>(rows, "Reciprocal", kUnary);
  add_floats<Round>(rows, "Round", kUnary);
  add_floats<Selu>(rows, "Selu", kUnary);
  add_floats<Sigmoid>(rows, "Sigmoid", kUnary);
  add_floats<Sin>(rows, "Sin", kUnary);
  add_floats<Sinh>(rows, "Sinh", kUnary);
  add_floats<Softplus>(rows, "Softplus", kUnary);
  add_floats<Softsign>(rows, "Softsign", kUnary);
  add_floats<Sqrt>(rows, "Sqrt", kUnary);
  add_floats<Swish>(rows, "Swish", kUnary);
  add_floats<Tan>(rows, "Tan", kUnary);
  add_floats<Tanh>(rows, "Tanh", kUnary);
  add_floats<ThresholdedRelu>(rows, "ThresholdedRelu", kUnary);
  add_numbers<Abs>(rows, "Abs", kUnary);
  add_numbers<Sign>(rows, "Sign", kUnary);
  add_floats<Neg>(rows, "Neg", kUnary);
  add_signed<Neg>(rows, "Neg", kUnary);
  add_floats<Relu>(rows, "Relu", kUnary);
  add_signed<Relu>(rows, "Relu", kUnary);
  add<Not, bool>(rows, "Not", kUnary);
  add_integers<BitwiseNot>(rows, "BitwiseNot", kUnary);
}

void add_binary_rows(KernelRows& rows) {
  add_numbers<Add>(rows, "Add", kBinary);
  add_numbers<Sub>(rows, "Sub", kBinary);
  add_numbers<Mul>(rows, "Mul", kBinary);
  add_numbers<Div>(rows, "Div", kBinary);
  add_numbers<Mod>(rows, "Mod", kBinary);
  add_numbers<Equal>(rows, "Equal", kBinary);
  add_numbers<Less>(rows, "Less", kBinary);
  add_numbers<LessOrEqual>(rows, "LessOrEqual", kBinary);
  add_numbers<Greater>(rows, "Greater", kBinary);
  add_numbers<GreaterOrEqual>(rows, "GreaterOrEqual", kBinary);
  add_numbers<Min>(rows, "Min", kBinary);
  add_numbers<Max>(rows, "Max", kBinary);
  add<Equal, bool>(rows, "Equal", kBinary);
  add<And, bool>(rows, "And", kBinary);
  add<Or, bool>(rows, "Or", kBinary);
  add<Xor, bool>(rows, "Xor", kBinary);
  add_integers<BitShift>(rows, "BitShift", kBinary);
  add_integers<BitwiseAnd>(rows, "BitwiseAnd", kBinary);
  add_integers<BitwiseOr>(rows, "BitwiseOr", kBinary);
  add_integers<BitwiseXor>(rows, "BitwiseXor", kBinary);
  add_floats<Sum>(rows, "Sum", kBinary);
  add_floats<Mean>(rows, "Mean", kBinary);
  add_floats<PRelu>(rows, "PRelu", kBinary);
  add<PRelu, int32_t, int64_t, uint32_t, uint64_t>(rows, "PRelu", kBinary);
  add_pairs_with_numbers<Pow, float>(rows, "Pow", kBinary);
  add_pairs_with_numbers<Pow, double>(rows, "Pow", kBinary);
  add_pairs_with_numbers<Pow, Float16>(rows, "Pow", kBinary);
  add_pairs_with_numbers<Pow, BFloat16>(rows, "Pow", kBinary);
  add_pairs_with_numbers<Pow, int32_t>(rows, "Pow", kBinary);
  add_pairs_with_numbers<Pow, int64_t>(rows, "Pow", kBinary);
}

}  // namespace

void add_pointwise_rows(KernelRows& rows) {
  add_unary_rows(rows);
  add_binary_rows(rows);
  add<Where, Width<8>, Width<16>, Width<32>, Width<64>, Width<128>>(rows, "Where",
                                                                    "kernels_cpu/where.h");
  add_numbers<Clip>(rows, "Clip", "kernels_cpu/clip.h");
  add_casts<float, double, Float16, BFloat16, bool, int8_t, int16_t, int32_t, int64_t, uint8_t,
            uint16_t, uint32_t, uint64_t>(rows);
}

}  // namespace intarsia::cpu
