// SPDX-License-Identifier: Apache-2.0
//
// ONNX MaxPool: the largest element of X under each window. NaN is passed over. Both layouts; with
// Indices channels are first. Output rows are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__MaxPool.html
#include <limits>

#include "core/kernel_list.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/nn/pool_reduce.h"

namespace intarsia::cpu {
namespace {

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
struct Largest {
  using Accumulator = typename Element<T>::Value;
  static Accumulator identity() { return lowest<T>(); }
  template <class V>
  static void step(V& largest, const V& x) {
    largest = x > largest ? x : largest;
  }
  template <class V>
  static void merge(V& largest, const V& x) {
    step(largest, x);
  }
};

/// Results are stored as they are.
template <class T>
struct AsTheyAre : PoolLines {
  using A = typename Largest<T>::Accumulator;
  T* y;

  explicit AsTheyAre(T* to) : y(to) {}
  AsTheyAre lines() const { return *this; }
  template <class L>
  static void store(T* to, const typename L::V& best, int64_t = 0) {
    L::store(to, best);
  }
  void block(const PoolBlock& block, const A* best) const {
    T* to = y + block.y;
    INTARSIA_INDEPENDENT
    for (int64_t j = 0; j < block.lanes; ++j) to[j] = Element<T>::store(best[j]);
  }
};

template <class T>
void max_pool_indices(const KernelContext& context, const WindowWalk& windows, bool columns_first) {
  using Value = typename Element<T>::Value;
  const WindowWalk& walk = joined_planes(windows);
  const T* x = context.input(0).as<const T>();
  T* y = context.output(0).as<T>();
  auto* indices = context.output(1).as<int64_t>();
  // Which element is the largest is chosen, not branched on: nobody could foresee it.
  const auto body = [&](const PoolBlock& block) {
    Value best[kLanes], met[kLanes];
    int64_t where[kLanes];
    for (int64_t j = 0; j < block.lanes; ++j) {
      best[j] = lowest<T>();
      where[j] = -1;
    }
    block.for_taps([&](int64_t at, int64_t low, int64_t high) {
      for_lanes(low, high, at, block.x_step,
                [&](int64_t j, int64_t i) { met[j] = Element<T>::load(x[i]); });
      const int64_t first = at - low * block.x_step;
      INTARSIA_INDEPENDENT
      for (int64_t j = low; j < high; ++j) {
        const bool larger = (where[j] < 0) | (met[j] > best[j]);
        best[j] = larger ? met[j] : best[j];
        where[j] = larger ? first + j * block.x_step : where[j];
      }
    });
    for (int64_t j = 0; j < block.lanes; ++j) {
      const bool none = where[j] < 0;  // the window lies in the padding
      const int64_t to = block.y + j * block.y_step;
      y[to] = Element<T>::store(best[j]);
      indices[to] = columns_first && !none ? column_major(windows, where[j]) : where[j];
    }
  };
  constexpr int64_t kShortRow = 16;
  const int64_t planes = walk.batch * walk.channels;
  if (INTARSIA_HAS_VECTORS && walk.out[walk.last()] < kShortRow && planes >= kShortRow) {
    WindowWalk alike = walk;
    alike.channels_last = true;
    context.parallel_for(
        (planes + kShortRow - 1) / kShortRow, [&](int64_t begin, int64_t end, int) {
          const int64_t stop = end * kShortRow < planes ? end * kShortRow : planes;
          on_isa(context.isa(), [&] { for_plane_blocks(alike, begin * kShortRow, stop, body); });
        });
    return;
  }
  context.parallel_for(pool_rows(context, walk), [&](int64_t begin, int64_t end, int) {
    on_isa(context.isa(), [&] { for_pool_blocks(walk, begin, end, body); });
  });
}

template <class T>
struct MaxPool {
  static constexpr KernelId id{"MaxPool", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    const OperandTypes types{.inputs = {t}, .outputs = {t, DataType::kInt64}};
    if (Status status = check_operands<ops::MaxPool>(context, types); !status) return status;
    const auto& a = context.attributes<MaxPoolAttributes>();
    if (a.pool.channels_last != 0 && context.output(1).present()) {
      return context.fail(Code::kUnsupported, "Indices of a channels-last MaxPool", 0, 1);
    }
    return {};
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<MaxPoolAttributes>();
    const WindowWalk walk = pool_walk(context, a.pool);
    if (context.output(1).present()) {
      max_pool_indices<T>(context, walk, a.storage_order != 0);
    } else {
      reduce_windows<T>(context, walk, Largest<T>(), AsTheyAre<T>(context.output(0).as<T>()));
    }
    return {};
  }
};

}  // namespace

extern const KernelList pool_max_kernels;
constinit const KernelList pool_max_kernels =
    kernel_list<Each<MaxPool, Join<Floats, Types<int8_t, uint8_t>>>, OfHalves<MaxPool<float>>>();

}  // namespace intarsia::cpu
