// SPDX-License-Identifier: Apache-2.0
//
// ONNX BatchNormalization, both layouts:
//
//     Y = (X - mean) / sqrt(variance + epsilon) * scale + shift
//
// Statistics are inputs, or with training_mode computed over the batch, and the running ones too,
// in double. Y may be the same memory as X. Specification:
// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
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
    on_isa(context.isa(), [&] {
      for (int64_t c = begin; c < end; ++c) {
        double mean = 0, variance = 0;
        for (int64_t n = 0; n < batch; ++n) {
          mean += sum_of(x + (n * channels + c) * plane, plane, [](double v) { return v; });
        }
        mean /= count;
        for (int64_t n = 0; n < batch; ++n) {
          variance += sum_of(x + (n * channels + c) * plane, plane,
                             [=](double v) { return (v - mean) * (v - mean); });
        }
        variance /= count;
        const double factor = parameter(1, c) / std::sqrt(variance + a.epsilon);
        const double shift = parameter(2, c);
        for (int64_t n = 0; n < batch; ++n) {
          const int64_t first = (n * channels + c) * plane;
          map_run(x + first, y + first, plane,
                  [=](double v, int64_t) { return (v - mean) * factor + shift; });
        }
        update(1, c, parameter(3, c), mean);
        update(2, c, parameter(4, c), variance);
      }
    });
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
    using V = typename Element<T>::Value;
    const auto line = [&](int64_t c) {
      return Line<V>(as_double(scale[c]) / std::sqrt(as_double(variance[c]) + a.epsilon),
                     as_double(shift[c]), as_double(mean[c]));
    };
    const int64_t channels = context.input(1).extents[0];
    const bool last = a.channels_last != 0 && view.rank > 2;
    const int64_t plane = last || view.rank < 2 ? 1 : elements_from(view, 2);
    if (plane > 1) {
      context.parallel_for(view.extents[0] * channels, [&](int64_t begin, int64_t end, int) {
        on_isa(context.isa(), [&] {
          for (int64_t unit = begin; unit < end; ++unit) {
            const Line<V> l = line(unit % channels);
            map_values(x + unit * plane, y + unit * plane, plane,
                       [=](V v, int64_t) { return (v - l.center) * l.multiply + l.add; });
          }
        });
      });
      return {};
    }
    // Channels are innermost: the coefficients of a block of them, then a run of pixels.
    constexpr int64_t kPixels = 256;
    const int64_t pixels = view.count() / channels;
    const int64_t blocks = (channels + kRowLanes - 1) / kRowLanes;
    const int64_t runs = (pixels + kPixels - 1) / kPixels;
    context.parallel_for(blocks * runs, [&](int64_t begin, int64_t end, int) {
      on_isa(context.isa(), [&] {
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t first = unit % blocks * kRowLanes;
          const int64_t lanes = channels - first < kRowLanes ? channels - first : kRowLanes;
          V multiply[kRowLanes], center[kRowLanes], add[kRowLanes];
          for (int64_t j = 0; j < lanes; ++j) {
            const Line<V> l = line(first + j);
            multiply[j] = l.multiply;
            center[j] = l.center;
            add[j] = l.add;
          }
          const V *m = multiply, *c = center, *b = add;
          const int64_t pixel = unit / blocks * kPixels;
          const int64_t end_pixel = pixels - pixel < kPixels ? pixels : pixel + kPixels;
          for (int64_t at = pixel * channels + first; at < end_pixel * channels; at += channels) {
            map_values(x + at, y + at, lanes,
                       [=](V v, int64_t j) { return (v - c[j]) * m[j] + b[j]; });
          }
        }
      });
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
