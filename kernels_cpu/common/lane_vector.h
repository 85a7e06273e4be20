// SPDX-License-Identifier: Apache-2.0
//
// Vectors of numbers in registers, for loops that keep sums there (common/isa_loop.h, on_vectors).
//
// Lines are covered by vectors of one length, the last of which may repeat results of the one
// before: there are no single elements left over, which would cost more than the vectors of a short
// line. Vectors go by reference: by value they would have another calling convention on each
// instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

namespace internal {
template <class A, int kCount>
struct VectorOfLanes {
  typedef A V __attribute__((vector_size(kCount * sizeof(A))));  // NOLINT(modernize-use-using)
};
template <class A>
struct VectorOfLanes<A, 1> {
  using V = A;
};
}  // namespace internal

/// kCount numbers of type A: a vector, or for 1 the number itself.
template <class A, int kCount>
struct LaneVector {
  using V = typename internal::VectorOfLanes<A, kCount>::V;
  static constexpr int kLanes = kCount;

  /// Lane i = lane(i).
  template <class Lane>
  static void make(V& v, const Lane& lane) {
    A lanes[kCount];
    for (int i = 0; i < kCount; ++i) lanes[i] = lane(i);
    std::memcpy(&v, lanes, sizeof v);
  }
  static void fill(V& v, A value) {
    make(v, [=](int) { return value; });
  }
  /// Elements of any type, as numbers.
  template <class T>
  static void load(const T* p, V& v) {
    if constexpr (std::is_same_v<T, A>) {
      std::memcpy(&v, p, sizeof v);
    } else if constexpr (std::is_arithmetic_v<T> && kCount > 1) {
      typename LaneVector<T, kCount>::V elements;
      std::memcpy(&elements, p, sizeof elements);
      v = __builtin_convertvector(elements, V);
    } else {
      make(v, [=](int i) { return static_cast<A>(Element<T>::load(p[i])); });
    }
  }
  /// Numbers as elements of any type.
  template <class T>
  static void store(T* p, const V& v) {
    if constexpr (std::is_same_v<T, A>) {
      std::memcpy(p, &v, sizeof v);
    } else if constexpr (std::is_arithmetic_v<T> && kCount > 1) {
      LaneVector<T, kCount>::store(p,
                                   __builtin_convertvector(v, typename LaneVector<T, kCount>::V));
    } else {
      A lanes[kCount];
      std::memcpy(lanes, &v, sizeof v);
      INTARSIA_INDEPENDENT
      for (int i = 0; i < kCount; ++i) {
        p[i] = Element<T>::store(static_cast<typename Element<T>::Value>(lanes[i]));
      }
    }
  }
  /// Numbers kStride apart, which is 1 or 2; one number behind the last of 2 apart is read, too.
  template <int kStride>
  static void load_apart(const A* p, V& v) {
    if constexpr (kCount == 1 || kStride == 1) {
      std::memcpy(&v, p, sizeof v);
    } else {
      V low, high;
      std::memcpy(&low, p, sizeof v);
      std::memcpy(&high, p + kCount, sizeof v);
      choose_even(low, high, v, std::make_integer_sequence<int, kCount>());
    }
  }
  /// Lanes 0, 2, ... and 1, 3, ... of `low` followed by `high`. REQUIRES: kCount > 1.
  static void take_apart(const V& low, const V& high, V& even, V& odd) {
    choose_even(low, high, even, std::make_integer_sequence<int, kCount>());
    choose_odd(low, high, odd, std::make_integer_sequence<int, kCount>());
  }
  /// The lanes as numbers of another type, in two vectors. As a loop: compilers make more of the
  /// conversion of whole vectors than of that of a half.
  template <class Half>
  static void widen(const V& v, Half& low, Half& high) {
    using B = std::remove_reference_t<decltype(low[0])>;
    A from[kCount];
    B to[kCount];
    std::memcpy(from, &v, sizeof v);
    for (int i = 0; i < kCount; ++i) to[i] = static_cast<B>(from[i]);
    std::memcpy(&low, to, sizeof low);
    std::memcpy(&high, to + kCount / 2, sizeof high);
  }
  /// The first and the last half of the lanes. REQUIRES: kCount > 2.
  template <class Half>
  static void low(const V& v, Half& half) {
    choose<0>(v, half, std::make_integer_sequence<int, kCount / 2>());
  }
  template <class Half>
  static void high(const V& v, Half& half) {
    choose<kCount / 2>(v, half, std::make_integer_sequence<int, kCount / 2>());
  }

 private:
  template <int kFirst, class Half, int... kLane>
  static void choose(const V& v, Half& half, std::integer_sequence<int, kLane...>) {
    half = __builtin_shufflevector(v, v, (kFirst + kLane)...);
  }
  template <int... kLane>
  static void choose_even(const V& low, const V& high, V& v, std::integer_sequence<int, kLane...>) {
    v = __builtin_shufflevector(low, high, (2 * kLane)...);
  }
  template <int... kLane>
  static void choose_odd(const V& low, const V& high, V& v, std::integer_sequence<int, kLane...>) {
    v = __builtin_shufflevector(low, high, (2 * kLane + 1)...);
  }
};

/// Calls `body(kCount, i)` so that the vectors [i, i + kCount) cover [begin, end) and nothing else,
/// some of it twice: kMost lanes, or fewer where the whole line from 0 to `end` is shorter.
template <int kMost, class Body>
void for_lane_vectors(int64_t begin, int64_t end, const Body& body) {
  if constexpr (kMost > 1) {
    if (end < kMost) return for_lane_vectors<(kMost > 4 ? kMost / 2 : 1)>(begin, end, body);
  }
  for (int64_t i = begin; i < end; i += kMost) {
    body(std::integral_constant<int, kMost>(), i < end - kMost ? i : end - kMost);
  }
}

}  // namespace intarsia::cpu
