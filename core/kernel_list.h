// SPDX-License-Identifier: Apache-2.0
//
// The list of kernels at the end of a kernel's source. It instantiates the kernels and describes
// them to the converter; it is the one place that names them:
//
//     template <class T>
//     struct CumSum { ... };                 // intarsia/kernel.h; may be in an unnamed namespace
//
//     extern const KernelList cumsum_kernels;
//     constinit const KernelList cumsum_kernels = kernel_list<Each<CumSum, Numbers>>();
//
// and one line in the list of lists (kernels_cpu/kernels.cpp) adds it. Programs link what their
// plans name, by `LinkedKernel`: a row of constant data for each kernel, which this list defines.
// The list itself and what only the converter calls are dropped by the linker.
//
// For sources that have such a list, and no header: it defines the rows that others only declare.
#pragma once

#include "core/kernel_descriptor.h"
#include "intarsia/shape.h"

namespace intarsia {
namespace internal {

// From a key back to the kernel type, within the translation unit that lists it: `Implemented`
// defines the function that `Key` declares. The types can then stay in unnamed namespaces, and
// programs need no more than the key.
#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class T>
struct Implementation {
  using type = T;
};
template <uint64_t key>
struct Key {
  friend auto implementation(Key);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#if defined(__NVCC__)
#pragma nv_diagnostic pop
#endif
template <class T, uint64_t key>
struct Implemented {
  friend auto implementation(Key<key>) { return Implementation<T>(); }
  static constexpr uint64_t value = key;
};
template <uint64_t key>
using ImplementationOf = typename decltype(implementation(Key<key>()))::type;

template <class K>
constexpr KernelDescriptor describe_linked() {
  using Linked = LinkedKernel<Implemented<K, kernel_key(K::id)>::value>;
  KernelDescriptor descriptor = describe_facts<K>();
  descriptor.kernel = &Linked::checked;
  descriptor.trusted = &Linked::trusted;
  return descriptor;
}

template <class List>
struct LinkedList;
template <class... Ks>
struct LinkedList<ListOf<Ks...>> {
  static constexpr std::array<KernelDescriptor, sizeof...(Ks)> rows{describe_linked<Ks>()...};
};

}  // namespace internal

template <uint64_t key>
constinit const Kernel LinkedKernel<key>::checked =
    internal::make_kernel<internal::ImplementationOf<key>>(true);
template <uint64_t key>
constinit const Kernel LinkedKernel<key>::trusted =
    internal::make_kernel<internal::ImplementationOf<key>>(false);

/// The descriptors of kernel types and `ListOf`, and, in this translation unit, their rows.
template <class... Lists>
constexpr KernelList kernel_list() {
  return internal::LinkedList<Join<ListOf<>, typename internal::AsList<Lists>::type...>>::rows;
}

template <uint64_t key>
constinit const ShapeFunction LinkedShape<key>::row =
    shape_function_of<internal::ImplementationOf<key>>();

namespace internal {
template <class Rule>
using LinkedRule = LinkedShape<Implemented<Rule, shape_key<Rule>()>::value>;
template <class... Rules>
inline constexpr std::array<const ShapeFunction*, sizeof...(Rules)> linked_shapes{
    &LinkedRule<Rules>::row...};
}  // namespace internal

/// The same for the shape functions of rules.
template <class... Rules>
constexpr std::span<const ShapeFunction* const> shape_list() {
  return internal::linked_shapes<Rules...>;
}

}  // namespace intarsia
