// SPDX-License-Identifier: Apache-2.0
//
// Threads take packs of the output, and the elements left over, in turns of the grid's size.
#include "kernels_cuda/elementwise/binary.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/elementwise/broadcast.h"
#include "kernels_cuda/elementwise/map.h"

namespace intarsia::cuda {
namespace {

template <class Op, class T>
INTARSIA_GLOBAL binary_kernel(typename Op::Attributes attributes, Broadcast<2> plan,
                              Global<const Stored<T>> x, Global<const Stored<T>> y,
                              Global<typename Op::template Result<T>> z) {
  using Result = typename Op::template Result<T>;
  constexpr int N = common_pack<Stored<T>, Result>();
  int64_t at[2];
  const auto f = [&](Stored<T> a, Stored<T> b) {
    // The converter has seen that no divisor is zero; in a plan that says otherwise nothing traps.
    if constexpr (std::is_integral_v<T> && Op::divides) {
      if (b == 0) return Result{0};
    }
    return element_of<Result>(Op::apply(loaded<T>(a), loaded<T>(b), attributes));
  };
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < plan.items(N); i += element_step()) {
    const int64_t first = plan.locate(i, N, at);
    if (plan.is_pack(i)) {
      const auto a = pack_or_fill<N>(x, at[0], plan.moves[0]);
      const auto b = pack_or_fill<N>(y, at[1], plan.moves[1]);
      z.template store<N>(first, map_pack<Result, kLong<Op>>(a, b, f));
    } else {
      z[first] = f(x[at[0]], y[at[1]]);
    }
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
      context, launch<binary_kernel<Op, T>>(grid_for(plan.items(N)), kThreads, stream_of(context),
                                            attributes_of<typename Op::Attributes>(context), plan,
                                            elements<Stored<T>>(x), elements<Stored<T>>(y),
                                            writable<Result>(z)));
}

extern const KernelList binary_kernels;
constinit const KernelList binary_kernels = kernel_list<BinaryKernels>();

}  // namespace intarsia::cuda
