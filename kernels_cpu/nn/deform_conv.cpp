// SPDX-License-Identifier: Apache-2.0
//
// Reference kernel of DeformConv: Y = B + sum over a group's channels and taps of W * M * X at the
// tap's place and its offset, between four elements of X (bilinear), 0 outside. Images of two
// spatial axes; ONNX describes no others.
//
// A run of pixels of an output row samples each element of a window once, for all filters, whose
// sums lie in the workspace. Sums are taken as in accumulate.h, places in double for doubles, else
// in float. Output rows are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__DeformConv.html
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/nn/deform_taps.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct DeformConv {
  static constexpr KernelId id{"DeformConv", "", {kernel_type_of<T>}};
  using V = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using A = Accumulator<T>;

  static CheckedInt sums_of_thread(const KernelContext& context) {
    return CheckedInt(context.input(1).extents[0]) * kLanes;
  }
  static int64_t workspace(const KernelContext& context) {
    return (sums_of_thread(context) * sizeof(A) * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    Status status = check_operands<ops::DeformConv>(
        context, {.inputs = {t, t, t, t, t}, .required_inputs = 3, .outputs = {t}});
    return status ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const DeformShape s(context);
    const PerThread<A> memory(context.workspace(), context.threads(),
                              sums_of_thread(context).value());
    context.parallel_for(s.batch * s.out_h, [&](int64_t begin, int64_t end, int thread) {
      A* sums = memory[thread];
      for (int64_t unit = begin; unit < end; ++unit) {
        for (int64_t column = 0; column < s.out_w; column += kLanes) {
          const int64_t lanes = s.out_w - column < kLanes ? s.out_w - column : kLanes;
          run_pixels(context, s, unit / s.out_h, unit % s.out_h * s.out_w + column, lanes, sums);
        }
      }
    });
    return {};
  }

 private:
  /// Pixels [pixel, pixel + lanes) of an image's result, for all filters.
  static void run_pixels(const KernelContext& context, const DeformShape& s, int64_t image,
                         int64_t pixel, int64_t lanes, A* sums) {
    const T* bias = context.input(3).as<const T>();
    for (int64_t filter = 0; filter < s.filters; ++filter) {
      const A start = bias != nullptr ? accumulable<T>(bias[filter]) : A{};
      for (int64_t j = 0; j < lanes; ++j) sums[filter * kLanes + j] = start;
    }
    const DeformTaps<T, V> taps(context, s);
    const T* x = context.input(0).as<const T>() + image * s.channels * s.plane;
    // Weights without channels have no elements, but perhaps any number of taps.
    for (int64_t part = 0; part < s.offset_groups && s.share > 0; ++part) {
      for (int64_t tap = 0; tap < s.taps; ++tap) {
        const DeformPlace place = taps.tap(tap);
        Corners<V> corners[kLanes];
        for (int64_t j = 0; j < lanes; ++j) {
          corners[j] = taps.corners(image, part, place, taps.pixel(pixel + j));
        }
        for (int64_t i = 0; i < s.share; ++i) {
          const int64_t channel = part * s.share + i;
          add_channel(context, s, x + channel * s.plane, channel, tap, corners, lanes, sums);
        }
      }
    }
    T* y = context.output(0).as<T>() + image * s.filters * s.pixels + pixel;
    for (int64_t filter = 0; filter < s.filters; ++filter) {
      for (int64_t j = 0; j < lanes; ++j) {
        y[filter * s.pixels + j] = rounded<T>(sums[filter * kLanes + j]);
      }
    }
  }

  /// One channel at one tap, for the filters of its group.
  static void add_channel(const KernelContext& context, const DeformShape& s, const T* plane,
                          int64_t channel, int64_t tap, const Corners<V>* corners, int64_t lanes,
                          A* sums) {
    A samples[kLanes];
    for (int64_t j = 0; j < lanes; ++j) {
      samples[j] = 0;
      for (int k = 0; k < 4; ++k) {
        if (corners[j].at[k] < 0) continue;
        samples[j] +=
            static_cast<A>(corners[j].weight[k]) * accumulable<T>(plane[corners[j].at[k]]);
      }
    }
    const int64_t group = channel / s.depth, filters = s.filters / s.groups;
    for (int64_t i = 0; i < filters; ++i) {
      const int64_t filter = group * filters + i;
      const T* w = context.input(1).as<const T>() + filter * s.depth * s.taps;
      const A weight = accumulable<T>(w[channel % s.depth * s.taps + tap]);
      A* sum = sums + filter * kLanes;
      for (int64_t j = 0; j < lanes; ++j) sum[j] += weight * samples[j];
    }
  }
};

}  // namespace

extern const KernelList deform_conv_kernels;
constinit const KernelList deform_conv_kernels = kernel_list<Each<DeformConv, Floats>>();

}  // namespace intarsia::cpu
