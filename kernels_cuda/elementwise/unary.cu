// SPDX-License-Identifier: Apache-2.0
//
// One thread per element, in turns of the grid's size.
#include "kernels_cuda/elementwise/unary.h"

#include <limits>

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"

namespace intarsia::cuda {
namespace {

template <class Op>
INTARSIA_GLOBAL unary_kernel(typename Op::Attributes attributes, Global<const float> x,
                             Global<typename Op::template Result<float>> y, int64_t count) {
  for (int64_t i = first_element(); i < count; i += element_step()) {
    y[i] = Op::apply(x[i], attributes);
  }
}

INTARSIA_GLOBAL clip_kernel(Global<const float> x, Global<const float> low,
                            Global<const float> high, Global<float> y, int64_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int64_t i = first_element(); i < count; i += element_step()) {
    y[i] = ClipOp::apply(x[i], low.present() ? low[0] : -kInfinity,
                         high.present() ? high[0] : kInfinity);
  }
}

}  // namespace

template <class Op>
Status Unary<Op>::run(const KernelContext& context) {
  const int64_t count = context.output(0).count();
  if (count == 0) return {};
  return launched(context, launch(grid_for(count), kThreads, stream_of(context), unary_kernel<Op>,
                                  attributes_of<typename Op::Attributes>(context),
                                  elements<float>(context.input(0)),
                                  writable<Result>(context.output(0)), count));
}

Status Clip::run(const KernelContext& context) {
  const int64_t count = context.output(0).count();
  if (count == 0) return {};
  return launched(
      context,
      launch(grid_for(count), kThreads, stream_of(context), clip_kernel,
             elements<float>(context.input(0)), elements<float>(context.input(1)),
             elements<float>(context.input(2)), writable<float>(context.output(0)), count));
}

extern const KernelList unary_kernels;
constinit const KernelList unary_kernels = kernel_list<UnaryKernels>();

}  // namespace intarsia::cuda
