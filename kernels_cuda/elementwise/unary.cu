// SPDX-License-Identifier: Apache-2.0
//
// One thread per element, in turns of the grid's size.
#include "kernels_cuda/elementwise/unary.h"

#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/common/activation.h"
#include "kernels_cuda/common/launch.h"

namespace intarsia::cuda {
namespace {

INTARSIA_DEVICE float evaluate(AbsOp, NoAttributes, float x) {
  return fabsf(x);
}
INTARSIA_DEVICE float evaluate(CeilOp, NoAttributes, float x) {
  return ceilf(x);
}
INTARSIA_DEVICE float evaluate(EluOp, AlphaAttributes a, float x) {
  return activate({Activation::kElu, a.alpha, 0}, x);
}
INTARSIA_DEVICE float evaluate(ErfOp, NoAttributes, float x) {
  return erff(x);
}
INTARSIA_DEVICE float evaluate(ExpOp, NoAttributes, float x) {
  return expf(x);
}
INTARSIA_DEVICE float evaluate(FloorOp, NoAttributes, float x) {
  return floorf(x);
}
INTARSIA_DEVICE float evaluate(GeluOp, GeluAttributes a, float x) {
  const bool tanh = a.approximate == GeluAttributes::kTanh;
  return activate({tanh ? Activation::kGeluTanh : Activation::kGelu, 0, 0}, x);
}
INTARSIA_DEVICE float evaluate(HardSigmoidOp, HardSigmoidAttributes a, float x) {
  return activate({Activation::kHardSigmoid, a.alpha, a.beta}, x);
}
INTARSIA_DEVICE float evaluate(HardSwishOp, NoAttributes, float x) {
  return activate({Activation::kHardSwish, 0, 0}, x);
}
INTARSIA_DEVICE float evaluate(LeakyReluOp, LeakyReluAttributes a, float x) {
  return activate({Activation::kLeakyRelu, a.alpha, 0}, x);
}
INTARSIA_DEVICE float evaluate(LogOp, NoAttributes, float x) {
  return logf(x);
}
INTARSIA_DEVICE float evaluate(NegOp, NoAttributes, float x) {
  return -x;
}
INTARSIA_DEVICE float evaluate(ReciprocalOp, NoAttributes, float x) {
  return 1.0f / x;
}
INTARSIA_DEVICE float evaluate(ReluOp, NoAttributes, float x) {
  return activate({Activation::kRelu, 0, 0}, x);
}
INTARSIA_DEVICE float evaluate(SigmoidOp, NoAttributes, float x) {
  return activate({Activation::kSigmoid, 0, 0}, x);
}
INTARSIA_DEVICE float evaluate(SoftplusOp, NoAttributes, float x) {
  return activate({Activation::kSoftplus, 0, 0}, x);
}
INTARSIA_DEVICE float evaluate(SqrtOp, NoAttributes, float x) {
  return sqrtf(x);
}
INTARSIA_DEVICE float evaluate(SwishOp, AlphaAttributes a, float x) {
  return x / (1.0f + expf(-a.alpha * x));
}
INTARSIA_DEVICE float evaluate(TanhOp, NoAttributes, float x) {
  return tanhf(x);
}

template <class Op>
INTARSIA_GLOBAL unary_kernel(typename Op::Attributes attributes, Global<const float> x,
                             Global<float> y, int64_t count) {
  for (int64_t i = first_element(); i < count; i += element_step()) {
    y[i] = evaluate(Op(), attributes, x[i]);
  }
}

INTARSIA_GLOBAL clip_kernel(Global<const float> x, Global<const float> low,
                            Global<const float> high, Global<float> y, int64_t count) {
  for (int64_t i = first_element(); i < count; i += element_step()) {
    float value = x[i];
    // Above the upper bound wins where the bounds cross.
    if (low.present() && value < low[0]) value = low[0];
    if (high.present() && value > high[0]) value = high[0];
    y[i] = value;
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
                                  writable<float>(context.output(0)), count));
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
