// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/nn/normalization.h"

#include <cmath>

#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

/// Elements behind the first `axes` axes.
int64_t elements_from(const TensorView& view, int axes) {
  int64_t count = 1;
  for (int axis = axes; axis < view.rank; ++axis) count *= view.extents[axis];
  return count;
}
int64_t elements_before(const TensorView& view, int axes) {
  int64_t count = 1;
  for (int axis = 0; axis < axes; ++axis) count *= view.extents[axis];
  return count;
}

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
    for (int64_t unit = begin; unit < end; ++unit) {
      const Moments moments = moments_of(x + unit * run, run);
      const double inverse = 1 / std::sqrt(moments.variance + epsilon);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t channel = unit % groups * channels + c;
        const double factor = inverse * as_double(scale[channel]);
        const double offset = as_double(shift[channel]);
        const int64_t first = unit * run + c * plane;
        for (int64_t i = first; i < first + plane; ++i) {
          y[i] = from_double<T>((as_double(x[i]) - moments.mean) * factor + offset);
        }
      }
    }
  });
}

/// BatchNormalization with the statistics of this batch; X is N, C, ....
template <class T, class P>
void normalize_batch(const KernelContext& context, const BatchNormalizationAttributes& a) {
  const TensorView& view = context.input(0);
  const T* x = view.as<const T>();
  T* y = context.output(0).as<T>();
  const int64_t channels = context.input(1).extents[0];
  // With the channels last every pixel is a batch of its own.
  const bool last = a.channels_last != 0 && view.rank > 2;
  const int64_t plane = last || view.rank < 2 ? 1 : elements_from(view, 2);
  const int64_t images = last ? elements_before(view, view.rank - 1) : view.extents[0];
  const int64_t batch = plane > 0 ? images : 0;
  const auto count = static_cast<double>(batch * plane);
  const auto parameter = [&](int input, int64_t c) {
    return as_double(context.input(input).as<const P>()[c]);
  };
  const auto update = [&](int output, int64_t c, double running, double current) {
    P* values = context.output(output).as<P>();
    if (values == nullptr) return;
    values[c] = from_double<P>(running * a.momentum + current * (1 - a.momentum));
  };
  context.parallel_for(channels, [&](int64_t begin, int64_t end, int) {
    for (int64_t c = begin; c < end; ++c) {
      Moments moments;
      for (int64_t n = 0; n < batch; ++n) {
        moments.mean += sum_of(x + (n * channels + c) * plane, plane, [](double v) { return v; });
      }
      moments.mean /= count;
      for (int64_t n = 0; n < batch; ++n) {
        moments.variance += sum_of(x + (n * channels + c) * plane, plane, [&](double v) {
          return (v - moments.mean) * (v - moments.mean);
        });
      }
      moments.variance /= count;
      const double factor = parameter(1, c) / std::sqrt(moments.variance + a.epsilon);
      for (int64_t n = 0; n < batch; ++n) {
        const int64_t first = (n * channels + c) * plane;
        for (int64_t i = first; i < first + plane; ++i) {
          y[i] = from_double<T>((as_double(x[i]) - moments.mean) * factor + parameter(2, c));
        }
      }
      update(1, c, parameter(3, c), moments.mean);
      update(2, c, parameter(4, c), moments.variance);
    }
  });
}

}  // namespace

template <class T, class P>
Status BatchNormalization<T, P>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  constexpr KernelType p = kernel_type_of<P>;
  const OperandTypes types{.inputs = {t, p, p, p, p}, .required_inputs = 5, .outputs = {t, p, p}};
  if (Status status = check_operands<ops::BatchNormalization>(context, types); !status) {
    return status;
  }
  const auto& a = context.attributes<BatchNormalizationAttributes>();
  if (a.training_mode == 0 && (context.output(1).present() || context.output(2).present())) {
    return context.fail(Code::kInvalidValue, "running statistics without training_mode", 1, 0);
  }
  return {};
}

template <class T, class P>
Status BatchNormalization<T, P>::run(const KernelContext& context) {
  const auto& a = context.attributes<BatchNormalizationAttributes>();
  if (a.training_mode != 0) {
    normalize_batch<T, P>(context, a);
    return {};
  }
  const TensorView& view = context.input(0);
  if (view.count() == 0) return {};
  const T* x = view.as<const T>();
  const P* scale = context.input(1).as<const P>();
  const P* shift = context.input(2).as<const P>();
  const P* mean = context.input(3).as<const P>();
  const P* variance = context.input(4).as<const P>();
  T* y = context.output(0).as<T>();
  const auto factor = [&](int64_t c) {
    return as_double(scale[c]) / std::sqrt(as_double(variance[c]) + a.epsilon);
  };
  const int64_t channels = context.input(1).extents[0];
  if (a.channels_last == 0 || view.rank < 3) {
    const int64_t plane = view.rank > 1 ? elements_from(view, 2) : 1;
    context.parallel_for(view.extents[0] * channels, [&](int64_t begin, int64_t end, int) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t c = unit % channels;
        const double multiply = factor(c);
        const double center = as_double(mean[c]);
        const double add = as_double(shift[c]);
        for (int64_t i = unit * plane; i < (unit + 1) * plane; ++i) {
          y[i] = from_double<T>((as_double(x[i]) - center) * multiply + add);
        }
      }
    });
    return {};
  }
  // Channels are innermost: the coefficients of a block of them, then all pixels.
  const int64_t pixels = elements_before(view, view.rank - 1);
  const int64_t blocks = (channels + kLanes - 1) / kLanes;
  context.parallel_for(blocks, [&](int64_t begin, int64_t end, int) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kLanes;
      const int64_t lanes = channels - first < kLanes ? channels - first : kLanes;
      double multiply[kLanes], center[kLanes], add[kLanes];
      for (int64_t j = 0; j < lanes; ++j) {
        multiply[j] = factor(first + j);
        center[j] = as_double(mean[first + j]);
        add[j] = as_double(shift[first + j]);
      }
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        const int64_t at = pixel * channels + first;
        for (int64_t j = 0; j < lanes; ++j) {
          y[at + j] = from_double<T>((as_double(x[at + j]) - center[j]) * multiply[j] + add[j]);
        }
      }
    }
  });
  return {};
}

template <class T>
Status InstanceNormalization<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  return check_operands<ops::InstanceNormalization>(
      context, {.inputs = {t, t, t}, .required_inputs = 3, .outputs = {t}});
}

template <class T>
Status InstanceNormalization<T>::run(const KernelContext& context) {
  const auto& a = context.attributes<InstanceNormalizationAttributes>();
  normalize_groups<T>(context, context.input(0).extents[1], a.epsilon);
  return {};
}

template <class T>
Status GroupNormalization<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  return check_operands<ops::GroupNormalization>(
      context, {.inputs = {t, t, t}, .required_inputs = 3, .outputs = {t}});
}

template <class T>
Status GroupNormalization<T>::run(const KernelContext& context) {
  const auto& a = context.attributes<GroupNormalizationAttributes>();
  normalize_groups<T>(context, a.num_groups, a.epsilon);
  return {};
}

template <class T>
Status LayerNormalization<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  constexpr KernelType f = DataType::kFloat;
  return check_operands<ops::LayerNormalization>(
      context, {.inputs = {t, t, t}, .required_inputs = 2, .outputs = {t, f, f}});
}

template <class T>
Status LayerNormalization<T>::run(const KernelContext& context) {
  const auto& a = context.attributes<LayerNormalizationAttributes>();
  const TensorView& view = context.input(0);
  const int axis = ops::wrapped_axis(a.axis, view.rank);
  const int64_t run = elements_from(view, axis);
  const T* x = view.as<const T>();
  const T* scale = context.input(1).as<const T>();
  const T* shift = context.input(2).as<const T>();
  T* y = context.output(0).as<T>();
  auto* means = context.output(1).as<float>();
  auto* inverses = context.output(2).as<float>();
  if (run == 0 && means == nullptr && inverses == nullptr) return {};
  context.parallel_for(elements_before(view, axis), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const T* from = x + row * run;
      T* to = y + row * run;
      const Moments moments = moments_of(from, run);
      const double inverse = 1 / std::sqrt(moments.variance + a.epsilon);
      if (shift != nullptr) {
        for (int64_t i = 0; i < run; ++i) {
          to[i] =
              from_double<T>((as_double(from[i]) - moments.mean) * inverse * as_double(scale[i]) +
                             as_double(shift[i]));
        }
      } else {
        for (int64_t i = 0; i < run; ++i) {
          to[i] =
              from_double<T>((as_double(from[i]) - moments.mean) * inverse * as_double(scale[i]));
        }
      }
      if (means != nullptr) means[row] = static_cast<float>(moments.mean);
      if (inverses != nullptr) inverses[row] = static_cast<float>(inverse);
    }
  });
  return {};
}

template <class T, class V>
Status RMSNormalization<T, V>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  constexpr KernelType v = kernel_type_of<V>;
  return check_operands<ops::RmsNormalization>(
      context, {.inputs = {t, v}, .required_inputs = 2, .outputs = {v}});
}

template <class T, class V>
Status RMSNormalization<T, V>::run(const KernelContext& context) {
  const auto& a = context.attributes<LayerNormalizationAttributes>();
  const TensorView& view = context.input(0);
  const int axis = ops::wrapped_axis(a.axis, view.rank);
  const int64_t run = elements_from(view, axis);
  const T* x = view.as<const T>();
  const V* scale = context.input(1).as<const V>();
  V* y = context.output(0).as<V>();
  if (view.count() == 0) return {};
  context.parallel_for(elements_before(view, axis), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const T* from = x + row * run;
      const double squares = sum_of(from, run, [](double v) { return v * v; });
      const double inverse = 1 / std::sqrt(squares / static_cast<double>(run) + a.epsilon);
      for (int64_t i = 0; i < run; ++i) {
        y[row * run + i] = from_double<V>(as_double(from[i]) * inverse * as_double(scale[i]));
      }
    }
  });
  return {};
}

template struct BatchNormalization<float, float>;
template struct BatchNormalization<double, double>;
template struct BatchNormalization<Float16, Float16>;
template struct BatchNormalization<Float16, float>;
template struct BatchNormalization<BFloat16, BFloat16>;
template struct BatchNormalization<BFloat16, float>;
template struct InstanceNormalization<float>;
template struct InstanceNormalization<double>;
template struct InstanceNormalization<Float16>;
template struct InstanceNormalization<BFloat16>;
template struct GroupNormalization<float>;
template struct GroupNormalization<double>;
template struct GroupNormalization<Float16>;
template struct GroupNormalization<BFloat16>;
template struct LayerNormalization<float>;
template struct LayerNormalization<double>;
template struct LayerNormalization<Float16>;
template struct LayerNormalization<BFloat16>;
template struct RMSNormalization<float, float>;
template struct RMSNormalization<double, double>;
template struct RMSNormalization<Float16, Float16>;
template struct RMSNormalization<Float16, float>;
template struct RMSNormalization<BFloat16, BFloat16>;
template struct RMSNormalization<BFloat16, float>;

}  // namespace intarsia::cpu
