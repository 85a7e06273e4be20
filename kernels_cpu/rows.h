// SPDX-License-Identifier: Apache-2.0
//
// The list of CPU kernels, for host tools: each group of kernels adds its rows here.
//
//     void add_unary_rows(KernelRows& rows) {
//       add<Relu, float, double, Float16>(rows, "Relu", "kernels_cpu/unary.h");
//     }
//
// Programs that embed a model never link this; they name their kernels in a `kernel_set`.
#pragma once

#include <string>

#include "core/definitions/kernel_descriptor.h"
#include "kernels_cpu/kernel_types.h"

namespace intarsia::cpu {

using definitions::KernelRows;

template <class T>
inline constexpr const char* cpp_name_of = nullptr;
template <>
inline constexpr const char* cpp_name_of<float> = "float";
template <>
inline constexpr const char* cpp_name_of<double> = "double";
template <>
inline constexpr const char* cpp_name_of<bool> = "bool";
template <>
inline constexpr const char* cpp_name_of<int8_t> = "int8_t";
template <>
inline constexpr const char* cpp_name_of<uint8_t> = "uint8_t";
template <>
inline constexpr const char* cpp_name_of<int16_t> = "int16_t";
template <>
inline constexpr const char* cpp_name_of<uint16_t> = "uint16_t";
template <>
inline constexpr const char* cpp_name_of<int32_t> = "int32_t";
template <>
inline constexpr const char* cpp_name_of<uint32_t> = "uint32_t";
template <>
inline constexpr const char* cpp_name_of<int64_t> = "int64_t";
template <>
inline constexpr const char* cpp_name_of<uint64_t> = "uint64_t";
template <>
inline constexpr const char* cpp_name_of<Float16> = "intarsia::Float16";
template <>
inline constexpr const char* cpp_name_of<BFloat16> = "intarsia::BFloat16";
template <int Bits>
inline constexpr const char* cpp_name_of<Width<Bits>> = Bits == 8    ? "intarsia::cpu::Width<8>"
                                                        : Bits == 16 ? "intarsia::cpu::Width<16>"
                                                        : Bits == 32 ? "intarsia::cpu::Width<32>"
                                                        : Bits == 64 ? "intarsia::cpu::Width<64>"
                                                                     : "intarsia::cpu::Width<128>";

/// Adds K<T> for each T. `name` is how K is spelled inside namespace intarsia::cpu.
template <template <class> class K, class... Ts>
void add(KernelRows& rows, const std::string& name, std::string_view header) {
  (rows.push_back(definitions::describe<K<Ts>>(
       "intarsia::cpu::" + name + "<" + cpp_name_of<Ts> + ">", header)),
   ...);
}

/// Adds a kernel that is no template.
template <class K>
void add_one(KernelRows& rows, const std::string& name, std::string_view header) {
  rows.push_back(definitions::describe<K>("intarsia::cpu::" + name, header));
}

/// Adds K<A, B> for one A and each B.
template <template <class, class> class K, class A, class... Bs>
void add_pairs(KernelRows& rows, const std::string& name, std::string_view header) {
  (rows.push_back(definitions::describe<K<A, Bs>>(
       "intarsia::cpu::" + name + "<" + cpp_name_of<A> + ", " + cpp_name_of<Bs> + ">", header)),
   ...);
}

/// Every CPU kernel, fast variants before the reference kernel of the same operator.
const KernelRows& kernel_rows();

}  // namespace intarsia::cpu
