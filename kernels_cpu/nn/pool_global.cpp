// SPDX-License-Identifier: Apache-2.0
//
// Pooling over all spatial axes (ONNX GlobalAveragePool, GlobalMaxPool, GlobalLpPool), both
// layouts. Images and channels (in blocks where channels are innermost) are shared out over the
// threads. Specification: https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "core/operators/nn/pool.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

// Reductions in double, which holds every element type exactly.
struct Sum {
  static double start() { return 0; }
  double operator()(double so_far, double x) const { return so_far + x; }
  double merge(double a, double b) const { return a + b; }
};
struct Largest {
  static double start() { return -std::numeric_limits<double>::infinity(); }
  double operator()(double so_far, double x) const { return x > so_far ? x : so_far; }
  double merge(double a, double b) const { return (*this)(a, b); }
};
struct PowerSum {
  double p;
  static double start() { return 0; }
  double operator()(double so_far, double x) const { return so_far + std::pow(std::fabs(x), p); }
  double merge(double a, double b) const { return a + b; }
};

/// Reduces `count` neighbours. Eight partial results hide the latency of the additions.
template <class T, class Reduce>
double reduce_run(const T* x, int64_t count, const Reduce& reduce) {
  constexpr int kParts = 8;
  double parts[kParts];
  for (double& part : parts) part = Reduce::start();
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (int j = 0; j < kParts; ++j) parts[j] = reduce(parts[j], as_double(x[i + j]));
  }
  for (; i < count; ++i) parts[0] = reduce(parts[0], as_double(x[i]));
  double result = parts[0];
  for (int j = 1; j < kParts; ++j) result = reduce.merge(result, parts[j]);
  return result;
}

/// y = finish(reduction over the spatial axes, number of positions).
template <class T, class Reduce, class Finish>
void global_pool(const KernelContext& context, bool channels_last, const Reduce& reduce,
                 const Finish& finish) {
  const TensorView& view = context.input(0);
  const ImageAxes axes{view.rank, channels_last};
  const T* x = view.as<const T>();
  T* y = context.output(0).as<T>();
  const int64_t batch = view.extents[0];
  const int64_t channels = view.extents[axes.channel()];
  int64_t plane = 1;
  for (int i = 0; i < axes.spatial(); ++i) plane *= view.extents[axes.axis(i)];

  if (!channels_last) {
    context.parallel_for(batch * channels, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        y[i] = from_double<T>(finish(reduce_run(x + i * plane, plane, reduce), plane));
      }
    });
    return;
  }
  const int64_t blocks = (channels + kLanes - 1) / kLanes;
  context.parallel_for(batch * blocks, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / blocks;
      const int64_t first = unit % blocks * kLanes;
      const int64_t lanes = channels - first < kLanes ? channels - first : kLanes;
      double parts[kLanes];
      for (double& part : parts) part = Reduce::start();
      for (int64_t pixel = 0; pixel < plane; ++pixel) {
        const T* row = x + (image * plane + pixel) * channels + first;
        for (int64_t j = 0; j < lanes; ++j) parts[j] = reduce(parts[j], as_double(row[j]));
      }
      for (int64_t j = 0; j < lanes; ++j) {
        y[image * channels + first + j] = from_double<T>(finish(parts[j], plane));
      }
    }
  });
}

template <class T>
struct GlobalAveragePool {
  static constexpr KernelId id{"GlobalAveragePool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::GlobalPool>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const bool last = context.attributes<GlobalPoolAttributes>().channels_last != 0;
    global_pool<T>(context, last, Sum{},
                   [](double sum, int64_t count) { return sum / static_cast<double>(count); });
    return {};
  }
};

template <class T>
struct GlobalMaxPool {
  static constexpr KernelId id{"GlobalMaxPool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::GlobalPool>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const bool last = context.attributes<GlobalPoolAttributes>().channels_last != 0;
    global_pool<T>(context, last, Largest{}, [](double largest, int64_t) { return largest; });
    return {};
  }
};

template <class T>
struct GlobalLpPool {
  static constexpr KernelId id{"GlobalLpPool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::GlobalLpPool>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<GlobalLpPoolAttributes>();
    const double p = a.p;
    global_pool<T>(context, a.global.channels_last != 0, PowerSum{p},
                   [p](double sum, int64_t) { return std::pow(sum, 1 / p); });
    return {};
  }
};

}  // namespace

extern const KernelList pool_global_kernels;
constinit const KernelList pool_global_kernels =
    kernel_list<Each<GlobalAveragePool, Floats>, Each<GlobalMaxPool, Floats>,
                Each<GlobalLpPool, Floats>>();

}  // namespace intarsia::cpu
