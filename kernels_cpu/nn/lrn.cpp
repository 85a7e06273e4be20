// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/nn/lrn.h"

#include <cmath>

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

}  // namespace

template <class T>
Status LRN<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  return check_operands<ops::Lrn>(context, {.inputs = {t}, .outputs = {t}});
}

template <class T>
Status LRN<T>::run(const KernelContext& context) {
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

template struct LRN<float>;
template struct LRN<double>;
template struct LRN<Float16>;
template struct LRN<BFloat16>;

}  // namespace intarsia::cpu
