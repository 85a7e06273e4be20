// SPDX-License-Identifier: Apache-2.0
//
// Reference convolution: Y = activation(sum over group channels and taps of X * W + B + Z), ONNX
// Conv, for 1 to 6 spatial axes, groups, any padding, strides and dilations, both layouts.
//
// The residual Z may be the same memory as Y. Output rows are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__Conv.html
#include "core/kernel_list.h"
#include "kernels_cpu/nn/conv_rows.h"

namespace intarsia::cpu {
namespace {

/// sums[low .. high) += x[0], x[step], ... times weight.
template <class T>
void add_scaled(Accumulator<T>* sums, int64_t low, int64_t high, const T* x, int64_t step,
                Accumulator<T> weight) {
  if (step == 1) {
    for (int64_t j = low; j < high; ++j) sums[j] += accumulable<T>(x[j - low]) * weight;
  } else {
    for (int64_t j = low; j < high; ++j) sums[j] += accumulable<T>(x[(j - low) * step]) * weight;
  }
}

template <class T>
struct Conv {
  static constexpr KernelId id{"Conv", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};

  static Status check(const KernelContext& context) {
    return check_with_epilogue<ops::Conv, T>(context);
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const auto& a = context.attributes<ConvAttributes>();
    const TensorView& weights = context.input(1);
    const WindowWalk walk(context.input(0), context.output(0), weights.extents + 2, a.window,
                          a.channels_last != 0);
    const T* x = context.input(0).as<const T>();
    const T* w = weights.as<const T>();
    const int64_t filters = weights.extents[0];
    const int64_t depth = weights.extents[1];
    const int64_t filters_per_group = filters / a.group;
    const auto add_terms = [&](const ConvRun& run, Accumulator<T>* sums) {
      // Weights without channels have no elements, but perhaps any number of taps.
      if (depth == 0) return;
      const int64_t channel = run.filter / filters_per_group * depth;
      const T* plane = x + run.image * walk.channels * walk.in_plane + channel * walk.channel_step;
      const T* taps = w + run.filter * depth * walk.taps;
      walk.for_taps(run.position, run.first, run.lanes,
                    [&](int64_t tap, int64_t offset, int64_t low, int64_t high) {
                      for (int64_t c = 0; c < depth; ++c) {
                        add_scaled<T>(sums, low, high, plane + c * walk.channel_step + offset,
                                      walk.lane_step, accumulable<T>(taps[c * walk.taps + tap]));
                      }
                    });
    };
    convolve_rows(context, walk, filters, ReferenceEpilogue<T>(context, activation_of(a)),
                  add_terms);
    return {};
  }
};

}  // namespace

extern const KernelList conv_kernels;
constinit const KernelList conv_kernels = kernel_list<Each<Conv, Floats>>();

}  // namespace intarsia::cpu
