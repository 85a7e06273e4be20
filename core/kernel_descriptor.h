// SPDX-License-Identifier: Apache-2.0
//
// What the converter knows of a kernel without running it, and lists of kernel types.
//
// Besides what intarsia/kernel.h names, a kernel type may have, for the converter:
//   static bool supports(const KernelContext&)       true if it serves these extents and attributes
//   static int64_t workspace(const KernelContext&)   bytes of scratch memory that `run` needs, for
//                                                    context.threads() threads
//   static constexpr int64_t state_bytes             bytes of per-node state
//   static int64_t packed_bytes(const KernelContext&, int input)       > 0 if the kernel wants this
//                                                    constant input in a packed form of its own
//   static void pack(const KernelContext&, int input, void* packed)    writes that form
//   static constexpr int cost                        see KernelDescriptor
//   static constexpr KernelDevice device             these and what follows: see KernelDescriptor
//   static constexpr KernelLayout layout
//   static constexpr KernelTargets targets
//   static constexpr std::string_view packing
// The context then holds planned (maximal) extents and attributes; data pointers are null except
// those of constants.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include "intarsia/kernel_set.h"

namespace intarsia {

/// Operators of a program's own: the header and the OperatorList that has them. Empty for those of
/// a library, which programs name by key alone (LinkedKernel, LinkedShape).
struct ProgramSource {
  std::string_view header = {};
  std::string_view list = {};
};

/// Where a kernel computes, and its operands lie.
enum class KernelDevice : uint8_t { kHost, kCuda };

/// The order of an image's axes that a kernel serves.
enum class KernelLayout : uint8_t { kAny, kChannelsFirst, kChannelsLast };

/// The machines that plans are made for, as `convert --target` names them.
enum class KernelTarget : uint8_t { kGeneric, kX86V3, kX86V4, kAarch64, kCortexM };
/// A set of them; by default all.
struct KernelTargets {
  uint32_t bits = ~uint32_t{0};

  constexpr KernelTargets() = default;
  template <std::same_as<KernelTarget>... Ts>
  constexpr KernelTargets(KernelTarget first, Ts... more)  // NOLINT: written as braces
      : bits((bit(first) | ... | bit(more))) {}
  constexpr bool has(KernelTarget target) const { return (bits & bit(target)) != 0; }

 private:
  static constexpr uint32_t bit(KernelTarget target) {
    return uint32_t{1} << static_cast<uint32_t>(target);
  }
};

/// What the converter knows of a kernel without running it. Constant data.
struct KernelDescriptor {
  KernelId id;
  uint64_t key = 0;
  /// The kernel itself where this process can execute it; `run` is null for other devices.
  const Kernel* kernel = nullptr;
  /// The row without `check`. Nobody reads it here: naming it makes the list define it.
  const Kernel* trusted = nullptr;
  bool (*supports)(const KernelContext&) = nullptr;
  int64_t (*workspace)(const KernelContext&) = nullptr;
  int64_t (*packed_bytes)(const KernelContext&, int input) = nullptr;
  void (*pack)(const KernelContext&, int input, void* packed) = nullptr;
  int64_t state_bytes = 0;
  // What the converter asks before `supports` (converter/graph/kernel_selection.cpp).
  KernelDevice device = KernelDevice::kHost;
  KernelLayout layout = KernelLayout::kAny;
  KernelTargets targets = {};
  /// The form into which `pack` brings weights, as people call it; "" if it packs none.
  std::string_view packing = {};
  /// How programs name it where no library links it by its key.
  ProgramSource source = {};
  /// Ranks the kernels that serve one node: the converter takes the lowest, the yardstick is the
  /// highest. Of equal ones the first in the list.
  int cost = 0;
};
/// The cost of kernels that do not state it: the reference kernel, variant "", and others.
inline constexpr int kReferenceCost = 100;
inline constexpr int kFastCost = 10;

using KernelList = std::span<const KernelDescriptor>;

/// Kernel types, as one argument of `kernel_list`.
template <class... Ks>
struct ListOf {};

/// Type arguments of kernels.
template <class... Ts>
struct Types {};

namespace internal {

template <class... Lists>
struct Joined;
template <template <class...> class List, class... As>
struct Joined<List<As...>> {
  using type = List<As...>;
};
template <template <class...> class List, class... As, class... Bs, class... Rest>
struct Joined<List<As...>, List<Bs...>, Rest...> : Joined<List<As..., Bs...>, Rest...> {};

template <template <class...> class K, class Types, class... Bound>
struct Applied;
template <template <class...> class K, class... Ts, class... Bound>
struct Applied<K, Types<Ts...>, Bound...> {
  using type = ListOf<K<Bound..., Ts>...>;
};
template <template <class...> class K, class A, class B>
struct Product;
template <template <class...> class K, class... As, class B>
struct Product<K, Types<As...>, B> : Joined<ListOf<>, typename Applied<K, B, As>::type...> {};

}  // namespace internal

/// The members of several lists, of `Types` or of `ListOf`.
template <class... Lists>
using Join = typename internal::Joined<Lists...>::type;
/// K<T> for each T of a list.
template <template <class...> class K, class Ts>
using Each = typename internal::Applied<K, Ts>::type;
/// K<A, B> for each A of one list and each B of another.
template <template <class...> class K, class As, class Bs>
using EachPair = typename internal::Product<K, As, Bs>::type;

using Floats = Types<float, double, Float16, BFloat16>;
using SignedIntegers = Types<int8_t, int16_t, int32_t, int64_t>;
using UnsignedIntegers = Types<uint8_t, uint16_t, uint32_t, uint64_t>;
using Integers = Join<SignedIntegers, UnsignedIntegers>;
using Numbers = Join<Floats, Integers>;
/// Types of sums that ONNX has for reductions and products.
using WideNumbers = Join<Floats, Types<int32_t, int64_t, uint32_t, uint64_t>>;

namespace internal {

template <class K>
constexpr KernelDescriptor describe_facts() {
  KernelDescriptor descriptor;
  descriptor.id = K::id;
  descriptor.key = kernel_key(K::id);
  if constexpr (requires { &K::supports; }) descriptor.supports = &K::supports;
  if constexpr (requires { &K::workspace; }) descriptor.workspace = &K::workspace;
  if constexpr (requires { &K::pack; }) {
    descriptor.packed_bytes = &K::packed_bytes;
    descriptor.pack = &K::pack;
  }
  if constexpr (requires { K::state_bytes; }) descriptor.state_bytes = K::state_bytes;
  if constexpr (requires { K::device; }) descriptor.device = K::device;
  if constexpr (requires { K::layout; }) descriptor.layout = K::layout;
  if constexpr (requires { K::targets; }) descriptor.targets = K::targets;
  if constexpr (requires { K::packing; }) descriptor.packing = K::packing;
  descriptor.cost = K::id.variant.empty() ? kReferenceCost : kFastCost;
  if constexpr (requires { K::cost; }) descriptor.cost = K::cost;
  return descriptor;
}

template <class K>
struct AsList {
  using type = ListOf<K>;
};
template <class... Ks>
struct AsList<ListOf<Ks...>> {
  using type = ListOf<Ks...>;
};

}  // namespace internal

namespace internal {
/// A row without `run`, which is code of another device.
template <class K>
inline constexpr Kernel kernel_checks = [] {
  Kernel row;
  row.key = kernel_key(K::id);
  if constexpr (requires { &K::check; }) row.check = &K::check;
  if constexpr (requires { K::in_place; }) row.in_place = K::in_place;
  return row;
}();

template <class K>
constexpr KernelDescriptor describe_apart() {
  KernelDescriptor descriptor = describe_facts<K>();
  descriptor.kernel = &kernel_checks<K>;
  return descriptor;
}

template <class List>
struct ApartList;
template <class... Ks>
struct ApartList<ListOf<Ks...>> {
  static constexpr std::array<KernelDescriptor, sizeof...(Ks)> rows{describe_apart<Ks>()...};
};
}  // namespace internal

/// The descriptors of kernels that this process cannot execute: nothing of `run` is named.
template <class... Lists>
constexpr KernelList apart_list() {
  return internal::ApartList<Join<ListOf<>, typename internal::AsList<Lists>::type...>>::rows;
}

/// The set of the kernels of a list, which a library holds.
template <class... Ks>
constexpr KernelSet linked_set(ListOf<Ks...>) {
  return kernel_set<LinkedKernel<kernel_key(Ks::id)>...>();
}

/// The descriptor of a kernel that no other translation unit links by its key: a program's own.
template <class K>
constexpr KernelDescriptor describe() {
  KernelDescriptor descriptor = internal::describe_facts<K>();
  descriptor.kernel = &internal::kernel_row<K, true>;
  descriptor.trusted = &internal::kernel_row<K, false>;
  return descriptor;
}

}  // namespace intarsia
