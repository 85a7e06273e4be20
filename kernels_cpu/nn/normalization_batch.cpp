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
#include "kernels_cpu/common/row_steps.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

/// Where the channels of a batch are: a run of `plane` elements for each of `images`, or, with a
/// plane of 1, side by side.
struct BatchShape {
  int64_t images, channels, plane;

  BatchShape(const KernelContext& context, const BatchNormalizationAttributes& a) {
    const TensorView& x = context.input(0);
    channels = context.input(1).extents[0];
    // With the channels last every pixel is a batch of its own.
    const bool last = a.channels_last != 0 && x.rank > 2;
    plane = last || x.rank < 2 ? 1 : elements_from(x, 2);
    images = plane == 0 ? 0 : last ? elements_before(x, x.rank - 1) : x.extents[0];
  }
  double count() const { return static_cast<double>(images * plane); }
};

/// sums[j] = the sum of what term_of(j) makes of elements, over those of channel first + j, for
/// `lanes` channels; several if these lie side by side.
template <int kBytes, class T, class TermOf>
void sum_channels(Isa isa, const T* x, const BatchShape& s, int64_t first, int64_t lanes,
                  double* sums, TermOf term_of) {
  for (int64_t j = 0; j < lanes; ++j) sums[j] = 0;
  for (int64_t n = 0; n < s.images; ++n) {
    const T* from = x + (n * s.channels + first) * s.plane;
    if (lanes == 1) {
      sums[0] += sum_of<kBytes>(isa, from, s.plane, term_of(0));
      continue;
    }
    typename Element<T>::Value block[kRowLanes];
    const auto* values = values_at(isa, from, block, lanes);
    INTARSIA_INDEPENDENT
    for (int64_t j = 0; j < lanes; ++j) {
      auto value = static_cast<double>(values[j]);
      term_of(j)(value);
      sums[j] += value;
    }
  }
}

/// BatchNormalization with the statistics of this batch; X is N, C, ....
template <class T, class P>
void normalize_batch(const KernelContext& context, const BatchNormalizationAttributes& a) {
  const BatchShape s(context, a);
  const T* x = context.input(0).as<T>();
  T* y = context.output(0).as<T>();
  const auto parameter = [&](int input, int64_t c) {
    return as_double(context.input(input).as<const P>()[c]);
  };
  const auto update = [&](int output, int64_t c, double running, double current) {
    P* values = context.output(output).as<P>();
    if (values == nullptr) return;
    values[c] = from_double<P>(running * a.momentum + current * (1 - a.momentum));
  };
  const auto normalize = [&](auto bytes, int64_t first, int64_t lanes) {
    double means[kRowLanes], variances[kRowLanes], factors[kRowLanes], shifts[kRowLanes];
    double* const mean = means;
    sum_channels<bytes()>(context.isa(), x, s, first, lanes, mean,
                          [](int64_t) { return [](const auto&) {}; });
    for (int64_t j = 0; j < lanes; ++j) mean[j] /= s.count();
    sum_channels<bytes()>(context.isa(), x, s, first, lanes, variances, [=](int64_t j) {
      return [m = mean[j]](auto& v) { v = (v - m) * (v - m); };
    });
    for (int64_t j = 0; j < lanes; ++j) {
      const double variance = variances[j] / s.count();
      factors[j] = parameter(1, first + j) / std::sqrt(variance + a.epsilon);
      shifts[j] = parameter(2, first + j);
      update(1, first + j, parameter(3, first + j), mean[j]);
      update(2, first + j, parameter(4, first + j), variance);
    }
    const double *factor = factors, *shift = shifts;
    const auto line_of = [=](int64_t j) {
      return [m = mean[j], f = factor[j], b = shift[j]](double v) { return (v - m) * f + b; };
    };
    for (int64_t n = 0; n < s.images; ++n) {
      const int64_t at = (n * s.channels + first) * s.plane;
      if (lanes > 1) {
        map_run(context.isa(), x + at, y + at, lanes,
                [=](double v, int64_t j) { return line_of(j)(v); });
      } else {
        map_run(context.isa(), x + at, y + at, s.plane,
                [l = line_of(0)](double v, int64_t) { return l(v); });
      }
    }
  };
  const int64_t width = s.plane == 1 ? kRowLanes : 1;
  context.parallel_for((s.channels + width - 1) / width, [&](int64_t begin, int64_t end, int) {
    on_vectors(context.isa(), [&](auto bytes) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t first = unit * width;
        normalize(bytes, first, s.channels - first < width ? s.channels - first : width);
      }
    });
  });
}

/// y = line j of x for plane j of `planes`.
template <class T, class V>
void map_planes(Isa isa, const T* x, T* y, int64_t planes, int64_t plane, const Line<V>* lines) {
  int64_t j = 0;
  if constexpr (kIsHalf<T>) {  // several short planes become floats at once
    V block[kFloatBlock];
    const int64_t most = kFloatBlock / plane;
    for (int64_t taken; most > 1 && j < planes; j += taken) {
      taken = most < planes - j ? most : planes - j;
      values_at(isa, x + j * plane, block, taken * plane);
      for (int64_t k = 0; k < taken; ++k) {
        const Line<V> l = lines[j + k];
        V* const values = block + k * plane;
        for (int64_t i = 0; i < plane; ++i) values[i] = (values[i] - l.center) * l.multiply + l.add;
      }
      from_floats(isa, block, y + j * plane, taken * plane);
    }
  }
  for (; j < planes; ++j) {
    map_values(isa, x + j * plane, y + j * plane, plane,
               [l = lines[j]](V v, int64_t) { return (v - l.center) * l.multiply + l.add; });
  }
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
    const BatchShape shape(context, a);
    const int64_t channels = shape.channels, plane = shape.plane;
    if (plane > 1) {
      // Coefficients may take longer than a plane: those of several channels serve several images.
      constexpr int64_t kElements = 4096, kMostImages = 16;
      const auto part = [](int64_t most, int64_t each) {
        const int64_t count = kElements / each;
        return count < 1 ? 1 : count < most ? count : most;
      };
      const int64_t width = part(channels < kRowLanes ? channels : kRowLanes, plane);
      const int64_t depth = part(kMostImages, plane * width);
      const int64_t blocks = (channels + width - 1) / width;
      const int64_t runs = (shape.images + depth - 1) / depth;
      context.parallel_for(blocks * runs, [&](int64_t begin, int64_t end, int) {
        on_isa(context.isa(), [&] {
          for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t first = unit % blocks * width, image = unit / blocks * depth;
            const int64_t lanes = channels - first < width ? channels - first : width;
            const int64_t last = shape.images - image < depth ? shape.images : image + depth;
            Line<V> lines[kRowLanes];
            for (int64_t j = 0; j < lanes; ++j) lines[j] = line(first + j);
            for (int64_t n = image; n < last; ++n) {
              const int64_t at = (n * channels + first) * plane;
              map_planes(context.isa(), x + at, y + at, lanes, plane, lines);
            }
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
            map_values(context.isa(), x + at, y + at, lanes,
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
