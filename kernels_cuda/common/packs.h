// SPDX-License-Identifier: Apache-2.0
//
// Elements by packs of N neighbours, for device code and for the `run` that decides whether
// operands lie where packs may. Loops over a pack are written out, so that it stays in registers.
#pragma once

#include <utility>

#include "intarsia/tensor.h"
#include "kernels_cuda/common/device.h"

namespace intarsia::cuda {

/// What lies in memory for elements of T: of a bool, any byte but 0 is true.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/// The number that an element of T is.
template <class T>
INTARSIA_DEVICE auto loaded(Stored<T> element) {
  if constexpr (std::is_same_v<T, bool>) {
    return element != 0;
  } else {
    return number_of(element);
  }
}

/// The most neighbours that move at once where elements of all these types are moved.
template <class... Ts>
constexpr int common_pack() {
  int least = 16;
  ((least = kPack<Ts> < least ? kPack<Ts> : least), ...);
  return least;
}

/// Whether the operand begins where packs of N elements of T may; an absent one does.
template <class T, int N>
bool takes_packs(const TensorView& view) {
  return reinterpret_cast<uintptr_t>(view.data) % (sizeof(T) * N) == 0;
}

namespace internal {
template <class Body, int... Ks>
INTARSIA_DEVICE void repeat(const Body& body, std::integer_sequence<int, Ks...>) {
  (body(std::integral_constant<int, Ks>()), ...);
}
}  // namespace internal

/// body(k) for k = 0 .. N - 1, each a constant.
template <int N, class Body>
INTARSIA_DEVICE void repeat(const Body& body) {
  internal::repeat(body, std::make_integer_sequence<int, N>());
}

/// N neighbours from `at` on if the operand moves along them, else N times the element there.
template <int N, class T>
INTARSIA_DEVICE Pack<T, N> pack_or_fill(const Global<const T>& x, int64_t at, bool moves) {
  if (moves) return x.template pack<N>(at);
  Pack<T, N> pack{};
  const T element = x[at];
  repeat<N>([&](auto k) { pack.values[k()] = element; });
  return pack;
}

}  // namespace intarsia::cuda
