// SPDX-License-Identifier: Apache-2.0
//
// Pooling by sums over windows: ONNX AveragePool, the mean, and LpPool, the p-norm, of the elements
// of X under each window. Padding counts in the mean only with count_include_pad, and then only as
// far as `pads` goes. Both layouts. Output rows are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__AveragePool.html
#include <cmath>
#include <cstring>

#include "core/kernel_list.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/nn/pool_reduce.h"

namespace intarsia::cpu {
namespace {

template <class A>
struct Sum {
  using Accumulator = A;
  static A identity() { return 0; }
  template <class V>
  static void step(V& sum, const V& x) {
    sum += x;
  }
  template <class V>
  static void merge(V& sum, const V& x) {
    sum += x;
  }
};

/// Sums of as many floats as this stay floats: in rows and columns they are rounded some fifteen
/// times.
constexpr int64_t kFewTaps = 64;

/// Sums become means by the reciprocals of how many elements they are of, which are taps along the
/// last axis for each lane, times those along the others, or one for windows that meet none.
template <class T, class A>
class MeanLines : public PoolLines {
 public:
  explicit MeanLines(bool padding) : padding_(padding) {}

  void start(const WindowWalk& walk, int64_t first, int64_t lanes) {
    lanes_ = lanes;
    for (int64_t j = 0; j < lanes; ++j) {
      along_[j] = static_cast<A>(walk.taps_inside(walk.last(), first + j, padding_));
    }
    for (A& across : across_) across = -1;
  }
  void rows(const PoolTaps& taps, const int64_t* position, int64_t first, int64_t count) {
    const auto across = static_cast<A>(taps.inside(position, padding_));
    for (int64_t row = first; row < first + count; ++row) {
      if (across == across_[row]) continue;  // most rows
      across_[row] = across;
      A* factors = factors_ + row * lanes_;
      INTARSIA_INDEPENDENT
      for (int64_t j = 0; j < lanes_; ++j) factors[j] = reciprocal(along_[j] * across);
    }
  }
  void pixel(const PoolTaps& taps, const int64_t* position) {
    factor_ = reciprocal(static_cast<A>(taps.inside(position, padding_)));
  }
  static A reciprocal(A count) { return 1 / (count > 0 ? count : A{1}); }

  template <class L>
  void store(T* y, const typename L::V& sums, int64_t lane) const {
    typename L::V factors;
    L::load(factors_ + lane, factors);
    L::store(y, sums * factors);
  }
  template <class L>
  void store(T* y, const typename L::V& sums) const {
    L::store(y, sums * factor_);
  }

 private:
  bool padding_;
  int64_t lanes_ = 0;
  A factor_ = 1;
  A across_[kPoolRows], along_[kPoolColumns], factors_[kPoolColumns];
};

template <class T, class A>
struct Means {
  T* y;
  bool padding;

  auto lines() const { return MeanLines<T, A>(padding); }
  void block(const PoolBlock& block, const A* sums) const {
    const WindowWalk& walk = block.walk;
    const int w = walk.last();
    const bool last = walk.channels_last;
    const int64_t across = walk.taps_inside(block.position, last ? walk.spatial : w, padding);
    for (int64_t j = 0; j < block.lanes; ++j) {
      const int64_t along = last ? 1 : walk.taps_inside(w, block.position[w] + j, padding);
      const int64_t count = across * along;
      y[block.y + j] = rounded<T>(sums[j] * (1 / static_cast<A>(count > 0 ? count : 1)));
    }
  }
};

template <class T>
struct AveragePool {
  static constexpr KernelId id{"AveragePool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::AveragePool>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const WindowWalk walk = pool_walk(context, context.attributes<AveragePoolAttributes>().pool);
    if (INTARSIA_HAS_VECTORS && walk.taps <= kFewTaps) {
      average<typename Element<T>::Value>(context, walk);
    } else {
      average<Accumulator<T>>(context, walk);
    }
    return {};
  }

 private:
  template <class A>
  static void average(const KernelContext& context, const WindowWalk& walk) {
    const bool padding = context.attributes<AveragePoolAttributes>().count_include_pad != 0;
    reduce_windows<T>(context, walk, Sum<A>(), Means<T, A>{context.output(0).as<T>(), padding});
  }
};

/// Sums of |x|^p; p = 2 is by far the most common.
struct Squares : Sum<double> {
  template <class V>
  static void step(V& sum, const V& x) {
    sum += x * x;
  }
  static double root(double sum) { return std::sqrt(sum); }
};
struct Powers : Sum<double> {
  static constexpr bool kLaneByLane = true;
  double p;

  explicit Powers(double power) : p(power) {}
  template <class V>
  void step(V& sum, const V& x) const {
    constexpr int kCount = sizeof(V) / sizeof(double);
    double sums[kCount], lanes[kCount];
    std::memcpy(sums, &sum, sizeof sum);
    std::memcpy(lanes, &x, sizeof x);
    for (int i = 0; i < kCount; ++i) sums[i] += std::pow(std::fabs(lanes[i]), p);
    std::memcpy(&sum, sums, sizeof sum);
  }
  double root(double sum) const { return std::pow(sum, 1 / p); }
};

template <class T, class Norm>
struct Roots : PoolLines {
  T* y;
  Norm norm;

  Roots(T* to, Norm n) : y(to), norm(n) {}
  Roots lines() const { return *this; }
  template <class L>
  void store(T* to, const typename L::V& sums, int64_t = 0) const {
    double lanes[L::kLanes];
    L::store(lanes, sums);
    typename L::V roots;
    L::make(roots, [&](int i) { return norm.root(lanes[i]); });
    L::store(to, roots);
  }
  void block(const PoolBlock& block, const double* sums) const {
    for (int64_t j = 0; j < block.lanes; ++j)
      y[block.y + j] = rounded<T>(static_cast<Accumulator<T>>(norm.root(sums[j])));
  }
};

template <class T, class Norm>
void norm_pool(const KernelContext& context, const PoolAttributes& a, Norm norm) {
  reduce_windows<T>(context, pool_walk(context, a), norm,
                    Roots<T, Norm>(context.output(0).as<T>(), norm));
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
      norm_pool<T>(context, a.pool, Squares());
    } else {
      norm_pool<T>(context, a.pool, Powers(static_cast<double>(a.p)));
    }
    return {};
  }
};

}  // namespace

extern const KernelList pool_sum_kernels;
constinit const KernelList pool_sum_kernels =
    kernel_list<Each<AveragePool, Floats>, Each<LpPool, Floats>,
                OfHalves<AveragePool<float>, LpPool<float>>>();

}  // namespace intarsia::cpu
