// SPDX-License-Identifier: Apache-2.0
//
// Threads take packs of the output in turns of the grid's size, then what is left over one by one.
#include "kernels_cuda/elementwise/binary.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/elementwise/broadcast.h"

namespace intarsia::cuda {
namespace {

template <class Op, class T>
INTARSIA_GLOBAL binary_kernel(typename Op::Attributes attributes, Broadcast<2> plan,
                              Global<const Stored<T>> x, Global<const Stored<T>> y,
                              Global<typename Op::template Result<T>> z) {
  using Result = typename Op::template Result<T>;
  constexpr int N = common_pack<Stored<T>, Result>();
  const auto f = [&](Stored<T> a, Stored<T> b) {
    return element_of<Result>(Op::apply(loaded<T>(a), loaded<T>(b), attributes));
  };
  int64_t at[2];
  for (int64_t i = first_element(); i < plan.packs; i += element_step()) {
    plan.locate(i, N, at);
    const auto a = pack_or_fill<N>(x, at[0], plan.moves[0]);
    const auto b = pack_or_fill<N>(y, at[1], plan.moves[1]);
    Pack<Result, N> to{};
    repeat<N>([&](auto k) { to.values[k()] = f(a.values[k()], b.values[k()]); });
    z.template store<N>(i * N, to);
  }
  for (int64_t i = plan.packs * N + first_element(); i < plan.count; i += element_step()) {
    plan.locate(i, 1, at);
    z[i] = f(x[at[0]], y[at[1]]);
  }
}

}  // namespace

template <class Op, class T>
Status Binary<Op, T>::run(const KernelContext& context) {
  const TensorView &x = context.input(0), &y = context.input(1), &z = context.output(0);
  if (z.count() == 0) return {};
  constexpr int N = common_pack<Stored<T>, Result>();
  const Broadcast<2> plan(
      z, {&x, &y}, N,
      {takes_packs<Stored<T>, N>(x), takes_packs<Stored<T>, N>(y), takes_packs<Result, N>(z)});
  return launched(
      context, launch(grid_for(plan.work()), kThreads, stream_of(context), binary_kernel<Op, T>,
                      attributes_of<typename Op::Attributes>(context), plan, elements<Stored<T>>(x),
                      elements<Stored<T>>(y), writable<Result>(z)));
}

extern const KernelList binary_kernels;
constinit const KernelList binary_kernels = kernel_list<BinaryKernels>();

}  // namespace intarsia::cuda
