// SPDX-License-Identifier: Apache-2.0
//
// Pooling by sums over windows: ONNX AveragePool, the mean, and LpPool, the p-norm, of the elements
// of X under each window. Padding counts in the mean only with count_include_pad, and then only as
// far as `pads` goes. Both layouts. Output rows are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__AveragePool.html
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cpu/nn/pool_blocks.h"

namespace intarsia::cpu {
namespace {

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
    const T* x = context.input(0).as<const T>();
    T* y = context.output(0).as<T>();
    for_pool_blocks(context, walk, [&](const PoolBlock& block) {
      Accumulator<T> sums[kLanes] = {};
      block.for_taps([&](int64_t at, int64_t low, int64_t high) {
        for_lanes(low, high, at, block.x_step,
                  [&](int64_t j, int64_t i) { sums[j] += accumulable<T>(x[i]); });
      });
      int64_t taps = 0;
      for (int64_t j = 0; j < block.lanes; ++j) {
        if (j == 0 || !walk.channels_last) taps = block.taps_inside(j, a.count_include_pad != 0);
        const auto divisor = static_cast<Accumulator<T>>(taps > 0 ? taps : 1);
        y[block.y + j] = rounded<T>(sums[j] / divisor);
      }
    });
    return {};
  }
};

template <class T>
struct LpPool {
  static constexpr KernelId id{"LpPool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::LpPool>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<LpPoolAttributes>();
    const WindowWalk walk = pool_walk(context, a.pool);
    const T* x = context.input(0).as<const T>();
    T* y = context.output(0).as<T>();
    const double p = a.p;
    for_pool_blocks(context, walk, [&](const PoolBlock& block) {
      double sums[kLanes] = {};
      block.for_taps([&](int64_t at, int64_t low, int64_t high) {
        for_lanes(low, high, at, block.x_step, [&](int64_t j, int64_t i) {
          sums[j] += std::pow(std::fabs(static_cast<double>(Element<T>::load(x[i]))), p);
        });
      });
      for (int64_t j = 0; j < block.lanes; ++j) {
        y[block.y + j] = rounded<T>(static_cast<Accumulator<T>>(std::pow(sums[j], 1 / p)));
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList pool_sum_kernels;
constinit const KernelList pool_sum_kernels =
    kernel_list<Each<AveragePool, Floats>, Each<LpPool, Floats>>();

}  // namespace intarsia::cpu
