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

/// The means of a block's lanes, row by row: sums by the reciprocals of how many elements they are
/// of, which are taps along the last axis for each lane, times those along the others, or one for
/// windows that meet none.
template <class T, class A>
class Means {
 public:
  Means(const PoolBlock& block, bool padding, T* y) : padding_(padding), y_(y) {
    for (int64_t j = 0; j < block.lanes; ++j) {
      along_[j] = static_cast<A>(block.taps_along(j, padding));
    }
  }
  void operator()(const PoolBlock& block, const A* sums) {
    const auto across = static_cast<A>(block.taps_across(padding_));
    if (across != across_) {  // for most rows it is the same
      across_ = across;
      for (int64_t j = 0; j < block.lanes; ++j) {
        const A count = along_[j] * across;
        factors_[j] = 1 / (count > 0 ? count : A{1});
      }
    }
    multiply(sums, factors_, block.lanes, y_ + block.y);
  }
  static void multiply(const A* sums, const A* factors, int64_t lanes, T* y) {
    INTARSIA_INDEPENDENT
    for (int64_t j = 0; j < lanes; ++j) y[j] = rounded<T>(sums[j] * factors[j]);
  }
  /// Of lanes that are channels.
  static void multiply(const A* sums, A count, int64_t lanes, T* y) {
    const A factor = 1 / (count > 0 ? count : A{1});
    INTARSIA_INDEPENDENT
    for (int64_t j = 0; j < lanes; ++j) y[j] = rounded<T>(sums[j] * factor);
  }

 private:
  static constexpr int64_t kMost = kPoolLanes > kLanes ? kPoolLanes : kLanes;
  bool padding_;
  T* y_;
  A across_ = -1;
  A along_[kMost], factors_[kMost];
};

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
    using A = typename Sum::Accumulator;
    if constexpr (!INTARSIA_HAS_VECTORS) {  // in little code, and little stack
      const bool last = walk.channels_last;
      const auto store = [=](const PoolBlock& block, const A* sums) {
        const int64_t across = block.taps_across(padding);
        for (int64_t j = 0; j < block.lanes; ++j) {
          const int64_t count = last ? across : across * block.taps_along(j, padding);
          y[block.y + j] = rounded<T>(sums[j] * (1 / static_cast<A>(count > 0 ? count : 1)));
        }
      };
      reduce_windows<T>(context, walk, sum, [=](const PoolBlock&) { return store; });
    } else {
      if (walk.channels_last) {
        const auto store = [=](const PoolBlock& block, const A* sums) {
          Means<T, A>::multiply(sums, static_cast<A>(block.taps_across(padding)), block.lanes,
                                y + block.y);
        };
        return reduce_windows<T>(context, walk, sum, [=](const PoolBlock&) { return store; });
      }
      reduce_windows<T>(context, walk, sum,
                        [=](const PoolBlock& block) { return Means<T, A>(block, padding, y); });
    }
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
  const auto store = [=](const PoolBlock& block, const double* sums) {
    T* to = y + block.y;
    INTARSIA_INDEPENDENT
    for (int64_t j = 0; j < block.lanes; ++j) {
      to[j] = rounded<T>(static_cast<Accumulator<T>>(norm.root(sums[j])));
    }
  };
  reduce_windows<T>(context, pool_walk(context, a), norm, [=](const PoolBlock&) { return store; });
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
