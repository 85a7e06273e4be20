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
#include "kernels_cpu/nn/float_runs.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

/// Elements of a channel below which a loop over each channel would be too short.
constexpr int64_t kSmallPlane = 16;

/// Y = line_of(channel) of a group of channels, each of `plane` neighbours.
template <class X, class T, class LineOf>
void map_channels(Isa isa, const X* x, T* y, int64_t channels, int64_t plane, LineOf line_of) {
  using V = typename Element<T>::Value;
  if (plane >= kSmallPlane || channels == 1) {
    for (int64_t c = 0; c < channels; ++c) {
      const Line<V> line = line_of(c);
      map_values(isa, x + c * plane, y + c * plane, plane,
                 [=](V v, int64_t) { return (v - line.center) * line.multiply + line.add; });
    }
    return;
  }
  // Spread over the elements, which then are one run.
  V multiply[kFloatBlock], add[kFloatBlock];
  Line<V> line = line_of(0);
  const V center = line.center;  // the same of all
  const int64_t run = channels * plane;
  int64_t channel = 0, left = plane;
  for (int64_t first = 0; first < run; first += kFloatBlock) {
    const int64_t n = run - first < kFloatBlock ? run - first : kFloatBlock;
    for (int64_t i = 0; i < n; ++i) {
      if (left-- == 0) {
        line = line_of(++channel);
        left = plane - 1;
      }
      multiply[i] = line.multiply;
      add[i] = line.add;
    }
    map_values(
        isa, x + first, y + first, n, [=](V v, int64_t, V m, V a) { return (v - center) * m + a; },
        multiply, add);
  }
}

/// Elements of a group, of which each image has `groups`.
inline int64_t run_of(const TensorView& view, int64_t groups) {
  const int64_t channels = groups > 0 ? view.extents[1] / groups : 0;
  return channels * elements_from(view, 2);
}

/// Each of `groups` groups of channels per image has its own statistics; X is N, C, ....
/// `runs` gives the elements of a group.
template <class T, class Runs>
void normalize_groups(const KernelContext& context, int64_t groups, double epsilon,
                      const Runs& runs) {
  const TensorView& view = context.input(0);
  const T* x = view.as<const T>();
  const T* scale = context.input(1).as<const T>();
  const T* shift = context.input(2).as<const T>();
  T* y = context.output(0).as<T>();
  const int64_t plane = elements_from(view, 2), run = run_of(view, groups);
  const int64_t channels = groups > 0 ? view.extents[1] / groups : 0;
  context.parallel_for(view.extents[0] * groups, [&](int64_t begin, int64_t end, int thread) {
    on_vectors(context.isa(), [&](auto bytes) {
      double means[Runs::kTogether], inverses[Runs::kTogether];
      for (int64_t unit = begin, taken; unit < end; unit += taken) {
        taken = runs.take(end - unit);
        const auto* from = runs.own(thread, x + unit * run, taken);
        auto* to = runs.results(thread, y + unit * run);
        moments_of<bytes()>(context.isa(), from, taken, run, means, inverses);
        for (int64_t r = 0; r < taken; ++r) inverses[r] = 1 / std::sqrt(inverses[r] + epsilon);
        for (int64_t r = 0; r < taken; ++r) {
          const int64_t before = (unit + r) % groups * channels;
          map_channels(
              context.isa(), from + r * run, to + r * run, channels, plane, [&](int64_t c) {
                return Line<typename Element<T>::Value>(inverses[r] * as_double(scale[before + c]),
                                                        as_double(shift[before + c]), means[r]);
              });
        }
        runs.store(thread, y + unit * run, taken);
      }
    });
  });
}

template <class T>
void normalize_groups(const KernelContext& context, int64_t groups, double epsilon) {
  const TensorView& view = context.input(0);
  if (view.count() == 0) return;
  with_runs<T>(context, run_of(view, groups), 0,
               [&](const auto& runs) { normalize_groups<T>(context, groups, epsilon, runs); });
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

  static int64_t workspace(const KernelContext& context) {
    const TensorView& x = context.input(0);
    return FloatRuns::bytes<T>(context, run_of(x, x.extents[1]), 0);
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

  static int64_t workspace(const KernelContext& context) {
    const auto& a = context.attributes<GroupNormalizationAttributes>();
    return FloatRuns::bytes<T>(context, run_of(context.input(0), a.num_groups), 0);
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
