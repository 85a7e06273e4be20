// SPDX-License-Identifier: Apache-2.0
//
// A thread takes packs of neighbours (map.h).
#include "kernels_cuda/elementwise/unary.h"

#include <limits>

#include "core/kernel_list.h"
#include "kernels_cuda/elementwise/map.h"

namespace intarsia::cuda {
namespace {

template <class Op, class T>
INTARSIA_GLOBAL unary_kernel(typename Op::Attributes attributes, Global<const Stored<T>> x,
                             Global<typename Op::template Result<T>> y, int64_t packs,
                             int64_t count) {
  using Result = typename Op::template Result<T>;
  map_elements<common_pack<Stored<T>, Result>(), kLong<Op>>(
      x, y, packs, count, [&](Stored<T> element) {
        return element_of<Result>(Op::apply(loaded<T>(element), attributes));
      });
}

template <class T>
INTARSIA_GLOBAL clip_kernel(Global<const T> x, Global<const T> low, Global<const T> high,
                            Global<T> y, int64_t packs, int64_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float lower = low.present() ? number_of(low[0]) : -kInfinity;
  const float upper = high.present() ? number_of(high[0]) : kInfinity;
  map_elements<kPack<T>, false>(x, y, packs, count, [&](T element) {
    return element_of<T>(ClipOp::apply(number_of(element), lower, upper));
  });
}

}  // namespace

template <class Op, class T>
Status Unary<Op, T>::run(const KernelContext& context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const int64_t count = y.count();
  if (count == 0) return {};
  const int64_t packs = packs_of<Stored<T>, Result>(x, y);
  return launched(context, launch<unary_kernel<Op, T>>(
                               grid_for(packs > 0 ? packs : count), kThreads, stream_of(context),
                               attributes_of<typename Op::Attributes>(context),
                               elements<Stored<T>>(x), writable<Result>(y), packs, count));
}

template <class T>
Status Clip<T>::run(const KernelContext& context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const int64_t count = y.count();
  if (count == 0) return {};
  const int64_t packs = packs_of<T, T>(x, y);
  return launched(context, launch<clip_kernel<T>>(
                               grid_for(packs > 0 ? packs : count), kThreads, stream_of(context),
                               elements<T>(x), elements<T>(context.input(1)),
                               elements<T>(context.input(2)), writable<T>(y), packs, count));
}

extern const KernelList unary_kernels;
constinit const KernelList unary_kernels = kernel_list<UnaryKernels>();

}  // namespace intarsia::cuda
