// SPDX-License-Identifier: Apache-2.0
//
// ONNX LayerNormalization and RMSNormalization, over the axes from `axis` on:
//
//     LayerNormalization  Y = (X - mean) / sqrt(variance + epsilon) * scale + shift
//     RMSNormalization    Y = X / sqrt(mean of X^2 + epsilon) * scale
//
// Statistics are in double, the rest is in what elements are computed in. Y may be the same memory
// as X. Specification: https://onnx.ai/onnx/operators/onnx__LayerNormalization.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/nn/float_runs.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

/// Elements that are normalised together.
int64_t run_of(const KernelContext& context) {
  const auto& a = context.attributes<LayerNormalizationAttributes>();
  const TensorView& view = context.input(0);
  return elements_from(view, ops::wrapped_axis(a.axis, view.rank));
}

/// Mean and InvStdDev, if wanted, are float.
template <class T>
struct LayerNormalization {
  static constexpr KernelId id{"LayerNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    constexpr KernelType f = DataType::kFloat;
    return check_operands<ops::LayerNormalization>(
        context, {.inputs = {t, t, t}, .required_inputs = 2, .outputs = {t, f, f}});
  }

  static int64_t workspace(const KernelContext& context) {
    return FloatRuns::bytes<T>(context, run_of(context), 2);
  }

  static Status run(const KernelContext& context) {
    with_runs<T>(context, run_of(context), 2, [&](const auto& runs) {
      normalize(context, runs, runs.shared(0, context.input(1).as<const T>()),
                runs.shared(1, context.input(2).as<const T>()));
    });
    return {};
  }

 private:
  /// `runs` gives the elements of a row, in the type of scale and shift.
  template <class Runs, class S>
  static void normalize(const KernelContext& context, const Runs& runs, const S* scale,
                        const S* shift) {
    using V = typename Element<T>::Value;
    const auto& a = context.attributes<LayerNormalizationAttributes>();
    const TensorView& view = context.input(0);
    const int axis = ops::wrapped_axis(a.axis, view.rank);
    const int64_t run = elements_from(view, axis);
    const T* x = view.as<const T>();
    T* y = context.output(0).as<T>();
    auto* means = context.output(1).as<float>();
    auto* inverses = context.output(2).as<float>();
    if (run == 0 && means == nullptr && inverses == nullptr) return;
    const double epsilon = a.epsilon;
    context.parallel_for(elements_before(view, axis), [&](int64_t begin, int64_t end, int thread) {
      on_vectors(context.isa(), [&](auto bytes) {
        double mean[Runs::kTogether], inverse[Runs::kTogether];
        for (int64_t row = begin, taken; row < end; row += taken) {
          taken = runs.take(end - row);
          const auto* from = runs.own(thread, x + row * run, taken);
          auto* results = runs.results(thread, y + row * run);
          moments_of<bytes()>(context.isa(), from, taken, run, mean, inverse);
          for (int64_t r = 0; r < taken; ++r) inverse[r] = 1 / std::sqrt(inverse[r] + epsilon);
          for (int64_t r = 0; r < taken; ++r) {
            const Deviation<V> deviation(mean[r]);
            const auto factor = static_cast<V>(inverse[r]);
            const auto* values = from + r * run;
            auto* to = results + r * run;
            if (shift != nullptr) {
              map_values(
                  context.isa(), values, to, run,
                  [=](V v, int64_t, V s, V t) { return deviation.of(v) * factor * s + t; }, scale,
                  shift);
            } else {
              map_values(
                  context.isa(), values, to, run,
                  [=](V v, int64_t, V s) { return deviation.of(v) * factor * s; }, scale);
            }
            if (means != nullptr) means[row + r] = static_cast<float>(mean[r]);
            if (inverses != nullptr) inverses[row + r] = static_cast<float>(inverse[r]);
          }
          runs.store(thread, y + row * run, taken);
        }
      });
    });
  }
};

/// V is the type of scale and Y.
template <class T, class V>
struct RMSNormalization {
  static constexpr KernelId id{"RMSNormalization", "", {kernel_type_of<T>, kernel_type_of<V>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    constexpr KernelType v = kernel_type_of<V>;
    return check_operands<ops::RmsNormalization>(
        context, {.inputs = {t, v}, .required_inputs = 2, .outputs = {v}});
  }

  static int64_t workspace(const KernelContext& context) {
    return FloatRuns::bytes<T>(context, run_of(context), 1);
  }

  static Status run(const KernelContext& context) {
    if (context.input(0).count() == 0) return {};
    with_runs<T>(context, run_of(context), 1, [&](const auto& runs) {
      normalize(context, runs, runs.shared(0, context.input(1).as<const V>()));
    });
    return {};
  }

 private:
  template <class Runs, class S>
  static void normalize(const KernelContext& context, const Runs& runs, const S* scale) {
    using W = typename Element<T>::Value;
    const auto& a = context.attributes<LayerNormalizationAttributes>();
    const TensorView& view = context.input(0);
    const int axis = ops::wrapped_axis(a.axis, view.rank);
    const int64_t run = elements_from(view, axis);
    const T* x = view.as<const T>();
    V* y = context.output(0).as<V>();
    const double epsilon = a.epsilon;
    context.parallel_for(elements_before(view, axis), [&](int64_t begin, int64_t end, int thread) {
      on_vectors(context.isa(), [&](auto bytes) {
        double inverse[Runs::kTogether] = {};
        for (int64_t row = begin, taken; row < end; row += taken) {
          taken = runs.take(end - row);
          const auto* from = runs.own(thread, x + row * run, taken);
          auto* to = runs.results(thread, y + row * run);
          for (int64_t r = 0; r < taken; ++r) {
            inverse[r] =
                sum_of_squares<bytes()>(context.isa(), from + r * run, run, [](const auto&) {});
          }
          for (int64_t r = 0; r < taken; ++r) {
            inverse[r] = 1 / std::sqrt(inverse[r] / static_cast<double>(run) + epsilon);
          }
          for (int64_t r = 0; r < taken; ++r) {
            const auto factor = static_cast<W>(inverse[r]);
            map_values(
                context.isa(), from + r * run, to + r * run, run,
                [=](W v, int64_t, auto s) { return v * factor * s; }, scale);
          }
          runs.store(thread, y + row * run, taken);
        }
      });
    });
  }
};

}  // namespace

extern const KernelList normalization_layer_kernels;
constinit const KernelList normalization_layer_kernels =
    kernel_list<Each<LayerNormalization, Floats>, RMSNormalization<float, float>,
                RMSNormalization<double, double>,
                EachPair<RMSNormalization, Types<Float16>, Types<Float16, float>>,
                EachPair<RMSNormalization, Types<BFloat16>, Types<BFloat16, float>>>();

}  // namespace intarsia::cpu
