// SPDX-License-Identifier: Apache-2.0
//
// Threads take packs of the output in turns of the grid's size, then what is left over one by one.
// Both sides are read and one is chosen.
#include "kernels_cuda/elementwise/where.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/elementwise/broadcast.h"

namespace intarsia::cuda {
namespace {

template <class E>
INTARSIA_GLOBAL where_kernel(Broadcast<3> plan, Global<const uint8_t> c, Global<const E> x,
                             Global<const E> y, Global<E> z) {
  constexpr int N = kPack<E>;
  int64_t at[3];
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < plan.items(N); i += element_step()) {
    const int64_t first = plan.locate(i, N, at);
    if (plan.is_pack(i)) {
      const auto choice = pack_or_fill<N>(c, at[0], plan.moves[0]);
      const auto on = pack_or_fill<N>(x, at[1], plan.moves[1]);
      const auto off = pack_or_fill<N>(y, at[2], plan.moves[2]);
      Pack<E, N> to{};
      repeat<N>([&](auto k) {
        to.values[k()] = choice.values[k()] != 0 ? on.values[k()] : off.values[k()];
      });
      z.template store<N>(first, to);
    } else {
      const E on = x[at[1]], off = y[at[2]];
      z[first] = c[at[0]] != 0 ? on : off;
    }
  }
}

}  // namespace

template <class E>
Status Where<E>::run(const KernelContext& context) {
  const TensorView &c = context.input(0), &x = context.input(1), &y = context.input(2);
  const TensorView& z = context.output(0);
  if (z.count() == 0) return {};
  constexpr int N = kPack<E>;
  const Broadcast<3> plan(z, {&c, &x, &y}, N,
                          {takes_packs<uint8_t, N>(c), takes_packs<E, N>(x), takes_packs<E, N>(y),
                           takes_packs<E, N>(z)});
  return launched(context, launch<where_kernel<E>>(grid_for(plan.items(N)), kThreads,
                                                   stream_of(context), plan, elements<uint8_t>(c),
                                                   elements<E>(x), elements<E>(y), writable<E>(z)));
}

extern const KernelList where_kernels;
constinit const KernelList where_kernels = kernel_list<WhereKernels>();

}  // namespace intarsia::cuda
