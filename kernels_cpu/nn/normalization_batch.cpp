// SPDX-License-Identifier: Apache-2.0
//
// ONNX BatchNormalization, both layouts:
//
//     Y = (X - mean) / sqrt(variance + epsilon) * scale + shift
//
// Statistics are inputs, or with training_mode computed over the batch, and the running ones too.
// Arithmetic is in double. Y may be the same memory as X.
// Specification: https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

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

/// P is the type of scale, shift, mean and variance.
template <class T, class P>
struct BatchNormalization {
  static constexpr KernelId id{
      "BatchNormalization", "", {kernel_type_of<T>, kernel_type_of<P>, kernel_type_of<P>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
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

  static Status run(const KernelContext& context) {
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
};

}  // namespace

extern const KernelList normalization_batch_kernels;
constinit const KernelList normalization_batch_kernels =
    kernel_list<BatchNormalization<float, float>, BatchNormalization<double, double>,
                EachPair<BatchNormalization, Types<Float16>, Types<Float16, float>>,
                EachPair<BatchNormalization, Types<BFloat16>, Types<BFloat16, float>>>();

}  // namespace intarsia::cpu
