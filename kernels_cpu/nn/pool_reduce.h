// SPDX-License-Identifier: Apache-2.0
//
// Pooling as reductions of what lies under the windows: by vectors (pool_planes.h, pool_pixels.h),
// or tap by tap.
//
// A Reducer has Accumulator, identity(), and step(accumulator, value), merge(accumulator,
// accumulator) of numbers or vectors of the Accumulator; one whose steps are calls for each lane
// has kLaneByLane, and gets no code for wider vectors. A Finish has T* y and stores results:
// `block(block, sums)` those of a PoolBlock. `lines()` makes what stores vectors: `start(walk,
// first, lanes)` tells that rows of results [first, first + lanes) follow, `rows(taps, position,
// row, count)` that lanes from row * lanes on are those of rows with the same taps, `pixel(taps,
// position)` that all are channels; `store<L>(y, sums, lane)` stores a vector, `store<L>(y, sums)`
// one of channels.
#pragma once

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/nn/pool_blocks.h"
#include "kernels_cpu/nn/pool_pixels.h"
#include "kernels_cpu/nn/pool_planes.h"

namespace intarsia::cpu {

/// sums[0, lanes) = the reduction of X under the block's windows.
template <class T, class Reducer>
void reduce_taps(const PoolBlock& block, const T* x, typename Reducer::Accumulator* sums,
                 Reducer reducer) {
  using A = typename Reducer::Accumulator;
  for (int64_t j = 0; j < block.lanes; ++j) sums[j] = reducer.identity();
  block.for_taps([&](int64_t at, int64_t low, int64_t high) {
    for_lanes(low, high, at, block.x_step, [&](int64_t j, int64_t i) {
      reducer.step(sums[j], static_cast<A>(Element<T>::load(x[i])));
    });
  });
}

template <class T, class Reducer, class Finish>
void reduce_rows(const KernelContext& context, const WindowWalk& walk, Reducer reducer,
                 const Finish& finish) {
  const T* x = context.input(0).as<const T>();
  context.parallel_for(pool_rows(context, walk), [&](int64_t begin, int64_t end, int) {
    if constexpr (INTARSIA_HAS_VECTORS) {
      if (walk.channels_last ? walk.taps <= kPoolTaps : PoolStrip::fits(walk)) {
        const auto reduce = [&](auto bytes) {
          auto lines = finish.lines();
          if (walk.channels_last) {
            reduce_pixels<bytes()>(walk, begin, end, x, finish.y, reducer, lines);
          } else {
            using Planes = PoolPlanes<bytes(), T, Reducer, decltype(lines)>;
            Planes(walk, x, finish.y, reducer, lines).reduce(begin, end);
          }
        };
        if constexpr (requires { Reducer::kLaneByLane; }) {
          return reduce(std::integral_constant<int, 16>());
        } else {
          return on_vectors(context.isa(), reduce);
        }
      }
    }
    on_isa(context.isa(), [&] {
      for_pool_blocks(walk, begin, end, [&](const PoolBlock& block) {
        typename Reducer::Accumulator sums[kLanes];
        reduce_taps(block, x, sums, reducer);
        finish.block(block, sums);
      });
    });
  });
}

/// The whole output.
template <class T, class Reducer, class Finish>
void reduce_windows(const KernelContext& context, const WindowWalk& windows, Reducer reducer,
                    const Finish& finish) {
  if constexpr (INTARSIA_HAS_VECTORS) {
    WindowWalk walk = windows.with_joined_planes().with_planes_as_rows();
    // Rows of one result take any step: so that the windows of several do not meet.
    const int w = walk.last();
    if (walk.out[w] == 1 && walk.stride[w] < walk.reach(w)) walk.stride[w] = walk.reach(w);
    return reduce_rows<T>(context, walk, reducer, finish);
  }
  reduce_rows<T>(context, windows, reducer, finish);
}

/// What a Finish of results that do not depend on their place has instead of tables.
struct PoolLines {
  static void start(const WindowWalk&, int64_t, int64_t) {}
  static void rows(const PoolTaps&, const int64_t*, int64_t, int64_t) {}
  static void pixel(const PoolTaps&, const int64_t*) {}
};

}  // namespace intarsia::cpu
