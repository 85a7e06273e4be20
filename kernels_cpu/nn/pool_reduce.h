// SPDX-License-Identifier: Apache-2.0
//
// Pooling as reductions: what lies under the windows of a block of results, step by step.
//
// Channels last: a row of channels for each tap. Channels first: columns of the input are reduced
// along all axes of the window but the last, the padding reading as the neutral element; then
// columns under the taps of the last axis. Kernels of 3 x 3 so take 6 steps, not 9, and most of
// them on neighbours, whatever the stride. See common/row_steps.h.
//
// A Reducer has Accumulator, identity(), step(accumulator, value), merge(accumulator, accumulator).
#pragma once

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/row_steps.h"
#include "kernels_cpu/nn/pool_blocks.h"

namespace intarsia::cpu {

/// Most columns that are reduced together, and most results of a row.
inline constexpr int64_t kPoolColumns = 4 * kRowLanes;
inline constexpr int64_t kPoolLanes = 2 * kRowLanes;

/// The columns that results [first, first + lanes) of the last axis meet by `taps` taps from `k`
/// on. Those in [low, high) lie in the input, the first one of all is column `begin` of the input.
struct PoolColumns {
  int64_t begin = 0, width = 0, low = 0, high = 0;

  PoolColumns() = default;
  PoolColumns(const WindowWalk& walk, int64_t first, int64_t lanes, int64_t k, int64_t taps) {
    const int w = walk.last();
    begin = first * walk.stride[w] - walk.before[w] + k * walk.dilation[w];
    width = (lanes - 1) * walk.stride[w] + (taps - 1) * walk.dilation[w] + 1;
    const int64_t rest = walk.in[w] - begin;
    low = begin < 0 ? -begin : 0;
    high = rest < width ? rest : width;
  }
};

/// How many results and taps are taken at once: what has at most kPoolColumns columns.
struct PoolStep {
  int64_t lanes = 1, taps = 1;

  explicit PoolStep(const WindowWalk& walk) {
    const int w = walk.last();
    const int64_t stride = walk.stride[w], dilation = walk.dilation[w];
    const int64_t reach = (walk.kernel[w] - 1) * dilation + 1;
    const int64_t spared = reach < kPoolColumns / 2 ? reach : kPoolColumns / 2;
    // Results one by one where most columns would lie between windows.
    if (stride <= 2 * reach) lanes = (kPoolColumns - spared) / stride + 1;
    if (lanes > kPoolLanes) lanes = kPoolLanes;
    taps = (kPoolColumns - 1 - (lanes - 1) * stride) / dilation + 1;
    if (taps > walk.kernel[w]) taps = walk.kernel[w];
  }
};

/// sums[i] = merge(sums[i], columns[i * stride + k * dilation]) for all taps k; `fresh`: there are
/// no sums yet. REQUIRES: taps > 0.
template <class A, class Reducer>
void merge_columns(A* sums, bool fresh, const A* columns, int64_t stride, int64_t dilation,
                   int64_t taps, int64_t lanes, Reducer reducer) {
  const auto merge = [=](A a, A b) { return reducer.merge(a, b); };
  const A none = reducer.identity();
  if (fresh && stride == 1) return start_taps(sums, columns, dilation, taps, lanes, merge, none);
  if (fresh && stride == 2) return start_taps<2>(sums, columns, dilation, taps, lanes, merge, none);
  for (int64_t i = 0; fresh && i < lanes; ++i) sums[i] = none;
  for (int64_t k = 0; k < taps; ++k, columns += dilation) {
    for (int64_t i = 0; i < lanes; ++i) sums[i] = merge(sums[i], columns[i * stride]);
  }
}

/// Results [block.position, + lanes) of `rows` output rows of one channel, from the block's on;
/// `finish(block)` gives `store(block, sums)` for all of them.
template <class T, class Reducer, class Finish>
void reduce_columns(PoolBlock block, int64_t rows, PoolStep most, const T* x, Reducer reducer,
                    const Finish& finish) {
  using A = typename Reducer::Accumulator;
  const WindowWalk& walk = block.walk;
  const auto step = [=](A sum, T value) { return reducer.step(sum, Element<T>::load(value)); };
  const int w = walk.last();
  const int64_t first = block.position[w], lanes = block.lanes;
  // The last lane meets the first tap, and lane 0 the last one.
  const int64_t start = first * walk.stride[w] - walk.before[w];
  const int64_t from = walk.taps_from(w, start + (lanes - 1) * walk.stride[w]).first;
  const int64_t to = walk.taps_from(w, start).end;
  auto store = finish(block);
  const A none = reducer.identity();
  A columns[kPoolColumns], sums[kPoolLanes];
  // Most windows are taken at once: their columns are those of every row.
  PoolColumns part{};
  int64_t known = -1;
  for (int64_t row = 0; row < rows; ++row) {
    bool fresh = true;
    for (int64_t k = from; k < to; k += most.taps) {
      const int64_t taps = to - k < most.taps ? to - k : most.taps;
      if (k != known) part = PoolColumns(walk, first, lanes, known = k, taps);
      const int64_t inside = part.high - part.low;
      if (inside <= 0) continue;
      for (int64_t i = 0; i < part.low; ++i) columns[i] = none;
      for (int64_t i = part.high; i < part.width; ++i) columns[i] = none;
      const T* at = x + block.x + part.begin + part.low;
      bool started = false;
      walk.for_tap_runs(block.position, w, [&](int64_t offset, int64_t taps_down, int64_t down) {
        if (started) {
          step_taps(columns + part.low, at + offset, down, taps_down, inside, step);
        } else {
          start_taps(columns + part.low, at + offset, down, taps_down, inside, step, none);
        }
        started = true;
      });
      if (!started) break;  // all rows under the windows lie in the padding
      merge_columns(sums, fresh, columns, walk.stride[w], walk.dilation[w], taps, lanes, reducer);
      fresh = false;
    }
    for (int64_t i = 0; fresh && i < lanes; ++i) sums[i] = none;
    store(block, sums);
    block.y += walk.out[w];
    for (int i = w - 1; i >= 0 && ++block.position[i] == walk.out[i]; --i) block.position[i] = 0;
  }
}

/// The same for the output rows [begin, end) of all channels.
template <class T, class Reducer, class Finish>
void reduce_planes(const WindowWalk& walk, int64_t begin, int64_t end, const T* x, Reducer reducer,
                   const Finish& finish) {
  const int w = walk.last();
  const int64_t rows = walk.out_rows();
  const PoolStep most(walk);
  for (int64_t unit = begin; unit < end;) {
    const int64_t row = unit % rows;
    const int64_t count = rows - row < end - unit ? rows - row : end - unit;
    PoolBlock block{walk};
    walk.decode_row(row, block.position);
    block.x = unit / rows * walk.in_plane;
    for (int64_t first = 0; first < walk.out[w]; first += most.lanes) {
      block.position[w] = first;
      block.lanes = walk.out[w] - first < most.lanes ? walk.out[w] - first : most.lanes;
      block.y = unit * walk.out[w] + first;
      reduce_columns(block, count, most, x, reducer, finish);
    }
    unit += count;
  }
}

/// sums[0, lanes) = the reduction of X under the block's window; channels last.
template <class T, class Reducer>
void reduce_pixel(const PoolBlock& block, const T* x, typename Reducer::Accumulator* sums,
                  Reducer reducer) {
  using A = typename Reducer::Accumulator;
  const auto step = [=](A sum, T value) { return reducer.step(sum, Element<T>::load(value)); };
  for (int64_t i = 0; i < block.lanes; ++i) sums[i] = reducer.identity();
  block.walk.for_tap_runs(
      block.position, block.walk.spatial, [&](int64_t offset, int64_t rows, int64_t distance) {
        step_taps(sums, x + block.x + offset, distance, rows, block.lanes, step);
      });
}

/// The same in either layout, tap by tap, which is less code.
template <class T, class Reducer>
void reduce_taps(const PoolBlock& block, const T* x, typename Reducer::Accumulator* sums,
                 Reducer reducer) {
  for (int64_t j = 0; j < block.lanes; ++j) sums[j] = reducer.identity();
  block.for_taps([&](int64_t at, int64_t low, int64_t high) {
    for_lanes(low, high, at, block.x_step, [&](int64_t j, int64_t i) {
      sums[j] = reducer.step(sums[j], Element<T>::load(x[i]));
    });
  });
}

/// Calls `finish(block)(block, sums)` for blocks that cover the output once.
template <class T, class Reducer, class Finish>
void reduce_windows(const KernelContext& context, const WindowWalk& walk, Reducer reducer,
                    const Finish& finish) {
  const T* x = context.input(0).as<const T>();
  context.parallel_for(pool_rows(context, walk), [&](int64_t begin, int64_t end, int) {
    on_widest_isa(context.isa(), [&] {
      if (INTARSIA_HAS_VECTORS && !walk.channels_last) {
        return reduce_planes(walk, begin, end, x, reducer, finish);
      }
      for_pool_blocks(walk, begin, end, [&](const PoolBlock& block) {
        typename Reducer::Accumulator sums[kLanes];
        if constexpr (INTARSIA_HAS_VECTORS) {
          reduce_pixel(block, x, sums, reducer);
        } else {
          reduce_taps(block, x, sums, reducer);
        }
        finish(block)(block, sums);
      });
    });
  });
}

}  // namespace intarsia::cpu
