// SPDX-License-Identifier: Apache-2.0
//
// Local response normalisation across channels (ONNX LRN), both layouts:
//
//     Y[c] = X[c] / (bias + alpha / size * sum of X[i]^2)^beta
//     i from c - floor((size - 1) / 2) to c + ceil((size - 1) / 2), as far as there are channels
//
// Images and channels (or pixels) are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__LRN.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

/// x^-beta. The exponent of AlexNet and GoogLeNet needs no pow.
double inverse_power(double x, double beta) {
  if (beta == 0.75) {
    const double root = std::sqrt(x);
    return 1 / (root * std::sqrt(root));
  }
  return std::pow(x, -beta);
}

template <class T>
struct LRN {
  static constexpr KernelId id{"LRN", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::Lrn>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const auto& a = context.attributes<LrnAttributes>();
    const TensorView& view = context.input(0);
    const T* x = view.as<const T>();
    T* y = context.output(0).as<T>();
    const int64_t below = (a.size - 1) / 2;
    const int64_t above = a.size / 2;
    const double scale = static_cast<double>(a.alpha) / a.size;
    const auto finish = [&](int64_t at, const double* squares, int64_t lanes) {
      for (int64_t j = 0; j < lanes; ++j) {
        const double factor = inverse_power(a.bias + scale * squares[j], a.beta);
        y[at + j] = from_double<T>(as_double(x[at + j]) * factor);
      }
    };
    if (a.channels_last != 0) {
      // Lanes are neighbouring channels of a pixel, whose windows are shifted by one each.
      const int64_t channels = view.extents[view.rank - 1];
      const int64_t pixels = channels > 0 ? view.count() / channels : 0;
      context.parallel_for(pixels, [&](int64_t begin, int64_t end, int) {
        for (int64_t at = begin * channels; at < end * channels; at += channels) {
          for (int64_t first = 0; first < channels; first += kLanes) {
            const int64_t lanes = channels - first < kLanes ? channels - first : kLanes;
            double squares[kLanes] = {};
            const int64_t front = first + lanes - 1 < below ? first + lanes - 1 : below;
            const int64_t back = channels - 1 - first < above ? channels - 1 - first : above;
            for (int64_t shift = -front; shift <= back; ++shift) {
              const int64_t row = at + first + shift;
              const int64_t from = first + shift < 0 ? -(first + shift) : 0;
              const int64_t left = channels - first - shift;
              const int64_t to = left < lanes ? left : lanes;
              for (int64_t j = from; j < to; ++j) {
                squares[j] += as_double(x[row + j]) * as_double(x[row + j]);
              }
            }
            finish(at + first, squares, lanes);
          }
        }
      });
      return {};
    }
    const int64_t channels = view.extents[1];
    int64_t plane = 1;
    for (int axis = 2; axis < view.rank; ++axis) plane *= view.extents[axis];
    context.parallel_for(view.extents[0] * channels, [&](int64_t begin, int64_t end, int) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t c = unit % channels;
        const int64_t from = c > below ? c - below : 0;
        const int64_t to = c + above < channels ? c + above : channels - 1;
        const int64_t image = unit - c;
        for (int64_t first = 0; first < plane; first += kLanes) {
          const int64_t lanes = plane - first < kLanes ? plane - first : kLanes;
          double squares[kLanes] = {};
          for (int64_t i = from; i <= to; ++i) {
            const T* row = x + (image + i) * plane + first;
            for (int64_t j = 0; j < lanes; ++j) squares[j] += as_double(row[j]) * as_double(row[j]);
          }
          finish(unit * plane + first, squares, lanes);
        }
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList lrn_kernels;
constinit const KernelList lrn_kernels = kernel_list<Each<LRN, Floats>>();

}  // namespace intarsia::cpu
