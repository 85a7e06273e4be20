// SPDX-License-Identifier: Apache-2.0
//
// From an OperatorList to kernels and shape functions by their keys: what emitted programs name.
// Not for direct inclusion.
#pragma once

#include <tuple>

#include "intarsia/internal/operator_binding.h"
#include "intarsia/kernel_set.h"

namespace intarsia {
namespace internal {

/// The kernel that serves operator type K: the one that it names, or that of its `run`.
template <class K>
struct KernelOf {
  using type = OperatorKernel<K>;
};
template <class K>
requires requires {
  typename K::Kernel;
}
struct KernelOf<K> {
  using type = typename K::Kernel;
};

/// The functions of K that a source may define, and 0 in the place of those that it lacks. To name
/// them is to make them: a call alone might be inlined, and others would look for them in vain.
template <class K>
struct FunctionsOf {
  static constexpr auto run() {
    if constexpr (!has_run<K> || requires { typename K::Kernel; }) {
      return 0;  // missing, of which SoundOperator speaks, or only declared
    } else {
      return &K::run;
    }
  }
  static constexpr auto check() {
    if constexpr (requires { &K::check; }) {
      return &K::check;
    } else {
      return 0;
    }
  }
  static constexpr auto workspace() {
    if constexpr (requires { &K::workspace; }) {
      return &K::workspace;
    } else {
      return 0;
    }
  }
  static constexpr auto supports() {
    if constexpr (requires { &K::supports; }) {
      return &K::supports;
    } else {
      return 0;
    }
  }
  static constexpr auto state_bytes() {
    if constexpr (requires { &K::state_bytes; }) {
      return &K::state_bytes;
    } else {
      return 0;
    }
  }
  static constexpr auto create() {
    if constexpr (requires { &K::create; }) {
      return &K::create;
    } else {
      return 0;
    }
  }
  static constexpr std::tuple all{run(), check(), workspace(), supports(), state_bytes(), create()};
};

}  // namespace internal

template <class... Ks>
struct Instances<OperatorList<Ks...>> {
  static constexpr std::tuple functions{internal::FunctionsOf<Ks>::all...};
};

namespace internal {

template <class T>
struct Found {
  using type = T;
};
template <uint64_t key, class... Ks>
struct InList {
  static_assert(sizeof...(Ks) > 0,
                "the OperatorList lacks an operator that the plan was made with; convert the model "
                "again with this version of the operators");
};
template <uint64_t key, class K, class... Ks>
struct InList<key, K, Ks...> {
  static auto kernel() {
    using Kernel = typename KernelOf<K>::type;
    if constexpr (kernel_key(Kernel::id) == key) {
      return Found<Kernel>();
    } else {
      return InList<key, Ks...>::kernel();
    }
  }
  static auto shape() {
    if constexpr (shape_key<OperatorShape<K>>() == key) {
      return Found<OperatorShape<K>>();
    } else {
      return InList<key, Ks...>::shape();
    }
  }
};
template <uint64_t key, class... Ks>
InList<key, Ks...> in_list(OperatorList<Ks...>);

}  // namespace internal

/// The kernel with this key of an OperatorList, and the shape function: what emitted programs name
/// in their sets.
template <class List, uint64_t key>
using KernelIn = typename decltype(decltype(internal::in_list<key>(List()))::kernel())::type;
template <class List, uint64_t key>
using ShapeIn = typename decltype(decltype(internal::in_list<key>(List()))::shape())::type;

}  // namespace intarsia
