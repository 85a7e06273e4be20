// SPDX-License-Identifier: Apache-2.0
//
// y[i] = f(x[i]) for device code: threads take packs of neighbours in turns of the grid's size,
// then what is left over one by one; all of them where an operand does not lie at a pack's address.
#pragma once

#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/packs.h"

namespace intarsia::cuda {

/// For i in [0, count), of which the first `packs` packs of N are aligned.
template <int N, class X, class Y, class F>
INTARSIA_DEVICE void map_elements(const Global<const X>& x, const Global<Y>& y, int64_t packs,
                                  int64_t count, const F& f) {
  for (int64_t i = first_element(); i < packs; i += element_step()) {
    const Pack<X, N> from = x.template pack<N>(i * N);
    Pack<Y, N> to{};
    repeat<N>([&](auto k) { to.values[k()] = f(from.values[k()]); });
    y.template store<N>(i * N, to);
  }
  for (int64_t i = packs * N + first_element(); i < count; i += element_step()) y[i] = f(x[i]);
}

/// How many packs the elements of both operands make.
template <class X, class Y>
int64_t packs_of(const TensorView& x, const TensorView& y) {
  constexpr int N = common_pack<X, Y>();
  return takes_packs<X, N>(x) && takes_packs<Y, N>(y) ? y.count() / N : 0;
}

}  // namespace intarsia::cuda
