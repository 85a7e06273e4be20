// SPDX-License-Identifier: Apache-2.0
//
// Pooling over all spatial axes (ONNX GlobalAveragePool, GlobalMaxPool, GlobalLpPool), both
// layouts: reductions, in double, which holds every element type exactly; see reduction/reduce.h.
// The maximum passes over NaN.
// Specification: https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "core/operators/nn/pool.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/reduction/reduce.h"

namespace intarsia::cpu {
namespace {

template <class V>
struct Mean {
  using Accumulator = double;
  static double identity() { return 0; }
  static double step(double sum, V x) { return sum + static_cast<double>(x); }
  static double merge(double a, double b) { return a + b; }
  static V finish(double sum, int64_t count) {
    return static_cast<V>(sum / static_cast<double>(count));
  }
};

template <class V>
struct Largest {
  using Accumulator = V;
  static V identity() { return -std::numeric_limits<V>::infinity(); }
  static V step(V largest, V x) { return x > largest ? x : largest; }
  static V merge(V a, V b) { return step(a, b); }
  static V finish(V largest, int64_t) { return largest; }
};

template <class V>
struct PowerNorm {
  using Accumulator = double;
  double p;
  static double identity() { return 0; }
  double step(double sum, V x) const {
    return sum + std::pow(std::fabs(static_cast<double>(x)), p);
  }
  static double merge(double a, double b) { return a + b; }
  V finish(double sum, int64_t) const { return static_cast<V>(std::pow(sum, 1 / p)); }
};

template <class V>
struct Euclidean {
  using Accumulator = double;
  static double identity() { return 0; }
  static double step(double sum, V x) {
    return sum + static_cast<double>(x) * static_cast<double>(x);
  }
  static double merge(double a, double b) { return a + b; }
  static V finish(double sum, int64_t) { return static_cast<V>(std::sqrt(sum)); }
};

template <class T, class Reducer>
void global_pool(const KernelContext& context, bool channels_last, Reducer reducer) {
  const ImageAxes axes{context.input(0).rank, channels_last};
  bool is_reduced[kMaxRank] = {};
  for (int i = 0; i < axes.spatial(); ++i) is_reduced[axes.axis(i)] = true;
  ReduceLoop loop(context.input(0), is_reduced);
  reduce<T>(context, loop, reducer);
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
    global_pool<T>(context, last, Mean<typename Element<T>::Value>());
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
    global_pool<T>(context, last, Largest<typename Element<T>::Value>());
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
    using V = typename Element<T>::Value;
    const auto& a = context.attributes<GlobalLpPoolAttributes>();
    const bool last = a.global.channels_last != 0;
    if (INTARSIA_HAS_VECTORS && a.p == 2) {
      global_pool<T>(context, last, Euclidean<V>());
    } else {
      global_pool<T>(context, last, PowerNorm<V>{static_cast<double>(a.p)});
    }
    return {};
  }
};

}  // namespace

extern const KernelList pool_global_kernels;
constinit const KernelList pool_global_kernels =
    kernel_list<Each<GlobalAveragePool, Floats>, Each<GlobalMaxPool, Floats>,
                Each<GlobalLpPool, Floats>,
                OfHalves<GlobalAveragePool<float>, GlobalMaxPool<float>, GlobalLpPool<float>>>();

}  // namespace intarsia::cpu
