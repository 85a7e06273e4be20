// SPDX-License-Identifier: Apache-2.0
//
// ONNX InstanceNormalization and GroupNormalization: each channel of an image, or group of
// channels, by its own mean and variance. Channels are first.
//
//     Y = (X - mean) / sqrt(variance + epsilon) * scale + shift
//
// Statistics are in double. Y may be the same memory as X.
// Specification: https://onnx.ai/onnx/operators/onnx__GroupNormalization.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

/// Each of `groups` groups of channels per image has its own statistics; X is N, C, ....
template <class T>
void normalize_groups(const KernelContext& context, int64_t groups, double epsilon) {
  const TensorView& view = context.input(0);
  const T* x = view.as<const T>();
  const T* scale = context.input(1).as<const T>();
  const T* shift = context.input(2).as<const T>();
  T* y = context.output(0).as<T>();
  const int64_t plane = elements_from(view, 2);
  const int64_t channels = groups > 0 ? view.extents[1] / groups : 0;
  const int64_t run = channels * plane;
  if (view.count() == 0) return;
  context.parallel_for(view.extents[0] * groups, [&](int64_t begin, int64_t end, int) {
    on_isa(context.isa(), [&] {
      for (int64_t unit = begin; unit < end; ++unit) {
        const Moments moments = moments_of(context.isa(), x + unit * run, run);
        const double inverse = 1 / std::sqrt(moments.variance + epsilon);
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t channel = unit % groups * channels + c;
          const Line<typename Element<T>::Value> line(inverse * as_double(scale[channel]),
                                                      as_double(shift[channel]), moments.mean);
          const int64_t first = unit * run + c * plane;
          map_values(context.isa(), x + first, y + first, plane,
                     [=](auto v, int64_t) { return (v - line.center) * line.multiply + line.add; });
        }
      }
    });
  });
}

template <class T>
struct InstanceNormalization {
  static constexpr KernelId id{"InstanceNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::InstanceNormalization>(
        context, {.inputs = {t, t, t}, .required_inputs = 3, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<InstanceNormalizationAttributes>();
    normalize_groups<T>(context, context.input(0).extents[1], a.epsilon);
    return {};
  }
};

template <class T>
struct GroupNormalization {
  static constexpr KernelId id{"GroupNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::GroupNormalization>(
        context, {.inputs = {t, t, t}, .required_inputs = 3, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<GroupNormalizationAttributes>();
    normalize_groups<T>(context, a.num_groups, a.epsilon);
    return {};
  }
};

}  // namespace

extern const KernelList normalization_groups_kernels;
constinit const KernelList normalization_groups_kernels =
    kernel_list<Each<InstanceNormalization, Floats>, Each<GroupNormalization, Floats>>();

}  // namespace intarsia::cpu
