// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/nn/conv_reference.h"

#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/activated.h"
#include "kernels_cpu/nn/window_walk.h"

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

}  // namespace

template <class T>
Status Conv<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<ops::Conv>(context, types); !status) return status;
  return check_activation<T>(context, context.attributes<ConvAttributes>());
}

template <class T>
Status Conv<T>::run(const KernelContext& context) {
  if (context.output(0).count() == 0) return {};
  const auto& a = context.attributes<ConvAttributes>();
  const TensorView& weights = context.input(1);
  const WindowWalk walk(context.input(0), context.output(0), weights.extents + 2, a.window,
                        a.channels_last != 0);
  const T* x = context.input(0).as<const T>();
  const T* w = weights.as<const T>();
  const T* bias = context.input(2).as<const T>();
  const T* residual = context.input(3).as<const T>();
  T* y = context.output(0).as<T>();
  const ActivationSpec activation = activation_of(a);

  const int64_t filters = weights.extents[0];
  const int64_t depth = weights.extents[1];
  const int64_t filters_per_group = filters / a.group;
  const int64_t rows = walk.out_rows();
  const int64_t width = walk.out[walk.last()];
  const int64_t y_step = walk.channels_last ? filters : 1;

  context.parallel_for(walk.batch * filters * rows, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit % rows;
      const int64_t filter = unit / rows % filters;
      const int64_t image = unit / rows / filters;
      int64_t position[kMaxSpatial] = {};
      walk.decode_row(row, position);
      const int64_t channel = filter / filters_per_group * depth;
      const T* plane = x + image * walk.channels * walk.in_plane + channel * walk.channel_step;
      const T* taps = w + filter * depth * walk.taps;
      for (int64_t first = 0; first < width; first += kLanes) {
        const int64_t lanes = width - first < kLanes ? width - first : kLanes;
        Accumulator<T> sums[kLanes];
        for (int64_t j = 0; j < lanes; ++j) {
          sums[j] = bias != nullptr ? accumulable<T>(bias[filter]) : Accumulator<T>{};
        }
        // Weights without channels have no elements, but perhaps any number of taps.
        if (depth > 0) {
          walk.for_taps(
              position, first, lanes, [&](int64_t tap, int64_t offset, int64_t low, int64_t high) {
                for (int64_t c = 0; c < depth; ++c) {
                  add_scaled<T>(sums, low, high, plane + c * walk.channel_step + offset,
                                walk.lane_step, accumulable<T>(taps[c * walk.taps + tap]));
                }
              });
        }
        const int64_t place = row * width + first;
        const int64_t at = walk.channels_last ? (image * walk.out_plane + place) * filters + filter
                                              : (image * filters + filter) * walk.out_plane + place;
        for (int64_t j = 0; j < lanes; ++j) {
          const int64_t i = at + j * y_step;
          if (residual != nullptr) sums[j] += accumulable<T>(residual[i]);
          y[i] = activated<T>(activation, sums[j]);
        }
      }
    }
  });
  return {};
}

template struct Conv<float>;
template struct Conv<double>;
template struct Conv<Float16>;
template struct Conv<BFloat16>;

}  // namespace intarsia::cpu
