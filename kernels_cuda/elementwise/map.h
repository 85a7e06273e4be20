// SPDX-License-Identifier: Apache-2.0
//
// y[i] = f(x[i]) for device code: threads take packs of neighbours in turns of the grid's size,
// then what is left over one by one; all of them where an operand does not lie at a pack's address.
#pragma once

#include "core/operators/elementwise/operators.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/packs.h"

namespace intarsia::cuda {

namespace internal {
template <class Op, class List>
inline constexpr bool is_among = false;
template <class Op, class... Ops>
inline constexpr bool is_among<Op, Types<Ops...>> = (std::is_same_v<Op, Ops> || ...);
}  // namespace internal

/// Operators whose code is so long that a pack's elements go through one copy of it in turns.
template <class Op>
inline constexpr bool kLong = internal::is_among<
    Op, Join<operators::FloatFunctions, operators::FloatActivations, Types<ModOp, PowOp>>>;

/// f(x, y) of each pair of elements; Long: in a loop. What it takes and gives is always at one end
/// of a pack, since registers have no numbers that a loop could count.
template <class Z, bool Long, class X, class Y, int N, class F>
INTARSIA_DEVICE Pack<Z, N> map_pack(Pack<X, N> x, Pack<Y, N> y, const F& f) {
  Pack<Z, N> z{};
  if constexpr (Long) {
    INTARSIA_ROLLED
    for (int k = 0; k < N; ++k) {
      const Z result = f(x.values[0], y.values[0]);
      repeat<N - 1>([&](auto i) {
        x.values[i()] = x.values[i() + 1];
        y.values[i()] = y.values[i() + 1];
        z.values[i()] = z.values[i() + 1];
      });
      z.values[N - 1] = result;
    }
  } else {
    repeat<N>([&](auto k) { z.values[k()] = f(x.values[k()], y.values[k()]); });
  }
  return z;
}

/// For i in [0, count), of which the first `packs` packs of N are aligned.
template <int N, bool Long, class X, class Y, class F>
INTARSIA_DEVICE void map_elements(const Global<const X>& x, const Global<Y>& y, int64_t packs,
                                  int64_t count, const F& f) {
  const int64_t items = count - packs * (N - 1);
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < items; i += element_step()) {
    if (i < packs) {
      const Pack<X, N> from = x.template pack<N>(i * N);
      const auto of_first = [&](X element, X) { return f(element); };
      y.template store<N>(i * N, map_pack<Y, Long>(from, from, of_first));
    } else {
      const int64_t at = i + packs * (N - 1);
      y[at] = f(x[at]);
    }
  }
}

/// How many packs the elements of both operands make.
template <class X, class Y>
int64_t packs_of(const TensorView& x, const TensorView& y) {
  constexpr int N = common_pack<X, Y>();
  return takes_packs<X, N>(x) && takes_packs<Y, N>(y) ? y.count() / N : 0;
}

}  // namespace intarsia::cuda
