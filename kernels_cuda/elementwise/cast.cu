// SPDX-License-Identifier: Apache-2.0
//
// A thread takes packs of neighbours (map.h).
#include "kernels_cuda/elementwise/cast.h"

#include "core/kernel_list.h"
#include "core/operators/common/integers.h"
#include "kernels_cuda/elementwise/map.h"

namespace intarsia::cuda {
namespace {

/// Integers reach float16 by way of float: those that float does not hold are beyond its range.
template <class Out, class Number>
INTARSIA_DEVICE Out converted(Number value) {
  if constexpr (std::is_same_v<Out, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<Out, Float16>) {
    return element_of<Out>(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<Out> && std::is_floating_point_v<Number>) {
    return saturate_cast<Out>(value);
  } else {
    return static_cast<Out>(value);
  }
}

template <class In, class Out>
INTARSIA_GLOBAL cast_kernel(Global<const Stored<In>> x, Global<Out> y, int64_t packs,
                            int64_t count) {
  map_elements<common_pack<Stored<In>, Out>(), false>(
      x, y, packs, count, [](Stored<In> element) { return converted<Out>(loaded<In>(element)); });
}

}  // namespace

template <class In, class Out>
Status Cast<In, Out>::run(const KernelContext& context) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const int64_t count = y.count();
  if (count == 0) return {};
  const int64_t packs = packs_of<Stored<In>, Out>(x, y);
  return launched(context, launch<cast_kernel<In, Out>>(
                               grid_for(packs > 0 ? packs : count), kThreads, stream_of(context),
                               elements<Stored<In>>(x), writable<Out>(y), packs, count));
}

extern const KernelList cast_kernels;
constinit const KernelList cast_kernels = kernel_list<CastKernels>();

}  // namespace intarsia::cuda
