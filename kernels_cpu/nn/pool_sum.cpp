// SPDX-License-Identifier: Apache-2.0
//
// Pooling by sums over windows: ONNX AveragePool, the mean, and LpPool, the p-norm, of the elements
// of X under each window. Padding counts in the mean only with count_include_pad, and then only as
// far as `pads` goes. Both layouts. Output rows are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__AveragePool.html
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cpu/nn/pool_reduce.h"

namespace intarsia::cpu {
namespace {

template <class T, class A>
struct Sum {
  using Accumulator = A;
  static Accumulator identity() { return 0; }
  static Accumulator step(Accumulator sum, typename Element<T>::Value x) {
    return sum + static_cast<Accumulator>(x);
  }
  static Accumulator merge(Accumulator a, Accumulator b) { return a + b; }
};

/// Sums of as many floats as this stay floats: in rows and columns they are rounded some ten times.
constexpr int64_t kFewTaps = 36;

/// y[j] = sums[j] / count for j in [begin, end). Where the sum has more digits than Y, a product
/// with the reciprocal is as good.
template <class T, class A>
void divide(const A* sums, int64_t count, T* y, int64_t begin, int64_t end) {
  const auto divisor = static_cast<A>(count > 0 ? count : 1);
  if constexpr (sizeof(A) > sizeof(T)) {
    const A factor = 1 / divisor;
    INTARSIA_INDEPENDENT
    for (int64_t j = begin; j < end; ++j) y[j] = rounded<T>(sums[j] * factor);
  } else {
    INTARSIA_INDEPENDENT
    for (int64_t j = begin; j < end; ++j) y[j] = rounded<T>(sums[j] / divisor);
  }
}

template <class T>
struct AveragePool {
  static constexpr KernelId id{"AveragePool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::AveragePool>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<AveragePoolAttributes>();
    const WindowWalk walk = pool_walk(context, a.pool);
    if (INTARSIA_HAS_VECTORS && walk.taps <= kFewTaps) {
      average(context, walk, a.count_include_pad != 0, Sum<T, typename Element<T>::Value>());
    } else {
      average(context, walk, a.count_include_pad != 0, Sum<T, Accumulator<T>>());
    }
    return {};
  }

 private:
  template <class Sum>
  static void average(const KernelContext& context, const WindowWalk& walk, bool padding, Sum sum) {
    T* y = context.output(0).as<T>();
    reduce_windows<T>(context, walk, sum, [=](const PoolBlock& block, const auto* sums) {
      // Lanes whose windows lie inside have as many taps as the next one.
      for (int64_t j = 0, next; j < block.lanes; j = next) {
        next = block.walk.channels_last ? block.lanes : block.alike(j);
        divide(sums, block.taps_inside(j, padding), y + block.y, j, next);
      }
    });
  }
};

/// Sums of |x|^p; p = 2 is by far the most common.
template <class T>
struct Squares {
  using Accumulator = double;
  static double step(double sum, typename Element<T>::Value x) {
    return sum + static_cast<double>(x) * static_cast<double>(x);
  }
  static double identity() { return 0; }
  static double merge(double a, double b) { return a + b; }
  static double root(double sum) { return std::sqrt(sum); }
};
template <class T>
struct Powers {
  using Accumulator = double;
  double p;
  double step(double sum, typename Element<T>::Value x) const {
    return sum + std::pow(std::fabs(static_cast<double>(x)), p);
  }
  static double identity() { return 0; }
  static double merge(double a, double b) { return a + b; }
  double root(double sum) const { return std::pow(sum, 1 / p); }
};

template <class T, class Norm>
void norm_pool(const KernelContext& context, const PoolAttributes& a, Norm norm) {
  T* y = context.output(0).as<T>();
  reduce_windows<T>(context, pool_walk(context, a), norm,
                    [=](const PoolBlock& block, const double* sums) {
                      T* to = y + block.y;
                      INTARSIA_INDEPENDENT
                      for (int64_t j = 0; j < block.lanes; ++j) {
                        to[j] = rounded<T>(static_cast<Accumulator<T>>(norm.root(sums[j])));
                      }
                    });
}

template <class T>
struct LpPool {
  static constexpr KernelId id{"LpPool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::LpPool>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<LpPoolAttributes>();
    if (INTARSIA_HAS_VECTORS && a.p == 2) {
      norm_pool<T>(context, a.pool, Squares<T>());
    } else {
      norm_pool<T>(context, a.pool, Powers<T>{static_cast<double>(a.p)});
    }
    return {};
  }
};

}  // namespace

extern const KernelList pool_sum_kernels;
constinit const KernelList pool_sum_kernels =
    kernel_list<Each<AveragePool, Floats>, Each<LpPool, Floats>>();

}  // namespace intarsia::cpu
