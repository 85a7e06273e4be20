// SPDX-License-Identifier: Apache-2.0
//
// Kernel sets: how a program chooses the kernels and shape functions that it links.
//
// Registration is the list of types given to `kernel_set`:
//
//     constexpr intarsia::KernelSet kernels = intarsia::kernel_set<Relu<float>, Gemm<float>>();
//
// which is a constant table sorted at compile time. There is no macro, no static initialiser and no
// global registry. Naming a kernel twice, or two kernels whose keys collide, does not compile;
// naming one that is not linked is a link error; kernels that are not named are dropped by the
// linker. A list says either types of kernels (intarsia/kernel.h, and `OperatorKernel` of
// intarsia/operator.h), or keys of kernels that a library holds (`LinkedKernel`).
//
// All here is constant data: read it from any thread.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "intarsia/kernel.h"

namespace intarsia {

/// A kernel as the runtime sees it: a row of constant data. `check`, `create` and `destroy` may be
/// null; without `in_place` outputs lie apart from inputs. Made by `kernel_set` from a kernel type;
/// programs need not build one by hand.
struct Kernel {
  uint64_t key = 0;
  Status (*run)(const KernelContext&) = nullptr;
  Status (*check)(const KernelContext&) = nullptr;
  Status (*create)(const KernelContext&) = nullptr;
  void (*destroy)(const KernelContext&) = nullptr;
  InPlace in_place;
};

/// An operator's shape function as the runtime sees it: computes the output extents of one node.
struct ShapeFunction {
  uint64_t key = 0;
  Status (*infer)(const KernelContext&) = nullptr;
};

/// What sessions do for tensors of strings; part of the runtime, linked where it is named.
struct StringSupport;
extern const StringSupport string_support;

/// The kernels and shape functions that a program links: rows of constant data, sorted by key. Copy
/// freely, any thread. Opening a plan looks up each of its few distinct keys once, by binary
/// search; a run looks up nothing. Several models share one set: name the kernels of all.
struct KernelSet {
  std::span<const Kernel* const> kernels;
  std::span<const ShapeFunction* const> shapes;
  const StringSupport* strings = nullptr;
  /// This set with the shape functions of `other` (for plans whose extents vary).
  constexpr KernelSet with(const KernelSet& other) const {
    return {kernels, other.shapes, strings};
  }
  /// This set for plans with tensors of strings, which `Session::open_trusted` refuses without
  /// it (kUnsupported); `Session::open` takes them with any set.
  constexpr KernelSet with_strings() const { return {kernels, shapes, &string_support}; }
};

/// A kernel of a library, by the key of its KernelId: a name for `kernel_set`, without the kernel's
/// type or header.
///
///     trusted_kernel_set<LinkedKernel<kernel_key({"Relu", "", {DataType::kFloat}})>>()
///
/// Its rows lie in the library beside the kernel (core/kernel_list.h); one that the library lacks
/// is an undefined symbol at link time.
template <uint64_t key_>
struct LinkedKernel {
  static constexpr uint64_t key = key_;
  static const Kernel checked;
  static const Kernel trusted;
};

/// The same for the shape function of a shape rule, for `shape_set` (intarsia/shape.h).
template <uint64_t key_>
struct LinkedShape {
  static constexpr uint64_t key = key_;
  static const ShapeFunction row;
};

/// Requirements on a kernel type, so that a wrong signature is named where the kernel is
/// registered.
template <class K>
concept KernelDefinition = requires(const KernelContext& context) {
  { kernel_key(K::id) } -> std::same_as<uint64_t>;
  { K::run(context) } -> std::same_as<Status>;
};

namespace internal {

template <class K>
constexpr Kernel make_kernel(bool checked) {
  static_assert(KernelDefinition<K>,
                "a kernel needs `static constexpr KernelId id` and "
                "`static Status run(const KernelContext&)`");
  Kernel kernel{kernel_key(K::id), &K::run, nullptr, nullptr, nullptr, {}};
  if constexpr (requires { &K::check; }) {
    if (checked) kernel.check = &K::check;
  }
  if constexpr (requires { &K::create; }) kernel.create = &K::create;
  if constexpr (requires { &K::destroy; }) kernel.destroy = &K::destroy;
  if constexpr (requires { K::in_place; }) kernel.in_place = K::in_place;
  return kernel;
}

/// The row of a kernel type, one for the whole program.
template <class K, bool Checked>
inline constexpr Kernel kernel_row = make_kernel<K>(Checked);

/// A row and its key, which is known before the row is linked.
template <class Row>
struct KeyedRow {
  uint64_t key;
  const Row* row;
};

// A row that is defined elsewhere is the point of LinkedKernel and LinkedShape.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
template <class K, bool Checked>
constexpr KeyedRow<Kernel> keyed_kernel() {
  if constexpr (requires { K::trusted; }) {
    return {K::key, Checked ? &K::checked : &K::trusted};
  } else {
    static_assert(KernelDefinition<K>,
                  "a kernel needs `static constexpr KernelId id` and "
                  "`static Status run(const KernelContext&)`");
    return {kernel_key(K::id), &kernel_row<K, Checked>};
  }
}
template <class Linked>
constexpr KeyedRow<ShapeFunction> keyed_linked_shape() {
  return {Linked::key, &Linked::row};
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class Row, size_t N>
consteval std::array<KeyedRow<Row>, N> sorted_by_key(std::array<KeyedRow<Row>, N> rows) {
  for (size_t i = 1; i < N; ++i) {
    for (size_t j = i; j > 0 && rows[j].key < rows[j - 1].key; --j) {
      const KeyedRow<Row> row = rows[j];
      rows[j] = rows[j - 1];
      rows[j - 1] = row;
    }
  }
  return rows;
}

template <class Row, size_t N>
consteval bool keys_are_unique(const std::array<KeyedRow<Row>, N>& rows) {
  for (size_t i = 1; i < N; ++i) {
    if (rows[i].key == rows[i - 1].key) return false;
  }
  return true;
}

template <class Row, size_t N>
consteval std::array<const Row*, N> without_keys(const std::array<KeyedRow<Row>, N>& rows) {
  std::array<const Row*, N> result{};
  for (size_t i = 0; i < N; ++i) result[i] = rows[i].row;
  return result;
}

template <bool Checked, class... Ks>
inline constexpr auto keyed_kernels = sorted_by_key(std::array<KeyedRow<Kernel>, sizeof...(Ks)>{
    keyed_kernel<Ks, Checked>()...});
template <bool Checked, class... Ks>
inline constexpr auto kernel_table = without_keys(keyed_kernels<Checked, Ks...>);

}  // namespace internal

/// A set of kernels, with their checks: for plans that come from outside the program, and for plans
/// whose extents vary. The list may be in any order. Errors at compile time name the kernel type:
/// it lacks `id` or `run`, is named twice, or shares its key with another one.
template <class... Ks>
constexpr KernelSet kernel_set() {
  static_assert(internal::keys_are_unique(internal::keyed_kernels<true, Ks...>),
                "two kernels in one kernel_set have the same key: a kernel is named twice, or two "
                "kernels share operator, variant, types and revision");
  return {internal::kernel_table<true, Ks...>, {}};
}

/// The same without checks: for plans linked into the program, opened with `open_trusted`. Checks
/// are then not linked, unless the plan has extents that vary.
template <class... Ks>
constexpr KernelSet trusted_kernel_set() {
  static_assert(internal::keys_are_unique(internal::keyed_kernels<false, Ks...>),
                "two kernels in one kernel_set have the same key: a kernel is named twice, or two "
                "kernels share operator, variant, types and revision");
  return {internal::kernel_table<false, Ks...>, {}};
}

}  // namespace intarsia
