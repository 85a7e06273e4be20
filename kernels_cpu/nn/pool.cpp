// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/nn/pool.h"

#include <cmath>
#include <limits>

#include "core/operators/nn/pool.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/nn/pool_blocks.h"

namespace intarsia::cpu {
namespace {

WindowWalk walk_of(const KernelContext& context, const PoolAttributes& a) {
  return {context.input(0), context.output(0), a.window.kernel_shape.values, a.window,
          a.channels_last != 0};
}

template <class Rule, class T>
Status check_pool(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  return check_operands<Rule>(context, {.inputs = {t}, .outputs = {t}});
}

template <class T>
typename Element<T>::Value lowest() {
  using Limits = std::numeric_limits<typename Element<T>::Value>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

/// An element's index in its tensor if the first spatial axis were the fastest.
int64_t column_major(const WindowWalk& walk, int64_t index) {
  int64_t place = index % walk.in_plane;
  int64_t result = index - place;
  int64_t distance = walk.in_plane;
  for (int i = walk.last(); i >= 0; --i) {
    distance /= walk.in[i];
    result += place % walk.in[i] * distance;
    place /= walk.in[i];
  }
  return result;
}

template <class T>
void max_pool(const KernelContext& context, const WindowWalk& walk) {
  using Value = typename Element<T>::Value;
  const T* x = context.input(0).as<const T>();
  T* y = context.output(0).as<T>();
  for_pool_blocks(context, walk, [&](const PoolBlock& block) {
    Value best[kLanes];
    for (int64_t j = 0; j < block.lanes; ++j) best[j] = lowest<T>();
    block.for_taps([&](int64_t at, int64_t low, int64_t high) {
      for_lanes(low, high, at, block.x_step, [&](int64_t j, int64_t i) {
        const Value value = Element<T>::load(x[i]);
        best[j] = value > best[j] ? value : best[j];
      });
    });
    for (int64_t j = 0; j < block.lanes; ++j) y[block.y + j] = Element<T>::store(best[j]);
  });
}

template <class T>
void max_pool_indices(const KernelContext& context, const WindowWalk& walk, bool columns_first) {
  using Value = typename Element<T>::Value;
  const T* x = context.input(0).as<const T>();
  T* y = context.output(0).as<T>();
  auto* indices = context.output(1).as<int64_t>();
  for_pool_blocks(context, walk, [&](const PoolBlock& block) {
    Value best[kLanes];
    int64_t where[kLanes];
    for (int64_t j = 0; j < block.lanes; ++j) where[j] = -1;
    block.for_taps([&](int64_t at, int64_t low, int64_t high) {
      for_lanes(low, high, at, block.x_step, [&](int64_t j, int64_t i) {
        const Value value = Element<T>::load(x[i]);
        if (where[j] >= 0 && !(value > best[j])) return;
        best[j] = value;
        where[j] = i;
      });
    });
    for (int64_t j = 0; j < block.lanes; ++j) {
      const bool none = where[j] < 0;  // the window lies in the padding
      y[block.y + j] = Element<T>::store(none ? lowest<T>() : best[j]);
      indices[block.y + j] = columns_first && !none ? column_major(walk, where[j]) : where[j];
    }
  });
}

}  // namespace

template <class T>
Status MaxPool<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  const OperandTypes types{.inputs = {t}, .outputs = {t, DataType::kInt64}};
  if (Status status = check_operands<ops::MaxPool>(context, types); !status) return status;
  const auto& a = context.attributes<MaxPoolAttributes>();
  if (a.pool.channels_last != 0 && context.output(1).present()) {
    return context.fail(Code::kUnsupported, "Indices of a channels-last MaxPool", 0, 1);
  }
  return {};
}

template <class T>
Status MaxPool<T>::run(const KernelContext& context) {
  const auto& a = context.attributes<MaxPoolAttributes>();
  const WindowWalk walk = walk_of(context, a.pool);
  if (context.output(1).present()) {
    max_pool_indices<T>(context, walk, a.storage_order != 0);
  } else {
    max_pool<T>(context, walk);
  }
  return {};
}

template <class T>
Status AveragePool<T>::check(const KernelContext& context) {
  return check_pool<ops::AveragePool, T>(context);
}

template <class T>
Status AveragePool<T>::run(const KernelContext& context) {
  const auto& a = context.attributes<AveragePoolAttributes>();
  const WindowWalk walk = walk_of(context, a.pool);
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

template <class T>
Status LpPool<T>::check(const KernelContext& context) {
  return check_pool<ops::LpPool, T>(context);
}

template <class T>
Status LpPool<T>::run(const KernelContext& context) {
  const auto& a = context.attributes<LpPoolAttributes>();
  const WindowWalk walk = walk_of(context, a.pool);
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

template struct MaxPool<float>;
template struct MaxPool<double>;
template struct MaxPool<Float16>;
template struct MaxPool<BFloat16>;
template struct MaxPool<int8_t>;
template struct MaxPool<uint8_t>;
template struct AveragePool<float>;
template struct AveragePool<double>;
template struct AveragePool<Float16>;
template struct AveragePool<BFloat16>;
template struct LpPool<float>;
template struct LpPool<double>;
template struct LpPool<Float16>;
template struct LpPool<BFloat16>;

}  // namespace intarsia::cpu
