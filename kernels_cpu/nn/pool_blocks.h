// SPDX-License-Identifier: Apache-2.0
//
// The loop that the pooling kernels share: blocks of up to kLanes results that are computed side by
// side. Lanes are output positions along the last axis, or channels where these are innermost.
#pragma once

#include "core/operators/nn/pool.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/nn/window_walk.h"

namespace intarsia::cpu {

inline WindowWalk pool_walk(const KernelContext& context, const PoolAttributes& a) {
  return {context.input(0), context.output(0), a.window.kernel_shape.values, a.window,
          a.channels_last != 0};
}

struct PoolBlock {
  const WindowWalk& walk;
  int64_t position[kMaxSpatial] = {};  ///< Output position; of lane 0 along the last axis.
  int64_t lanes = 0;
  int64_t x = 0;       ///< Element of X where the block's (first) channel begins.
  int64_t y = 0;       ///< Element of Y of lane 0; further lanes follow one by one.
  int64_t x_step = 1;  ///< Elements of X from one lane to the next.

  /// Calls `body(at, low, high)` per tap: lanes [low, high) meet elements at, at + x_step, ... of
  /// X.
  template <class Body>
  void for_taps(const Body& body) const {
    if (walk.channels_last) {
      walk.for_taps(position, position[walk.last()], 1,
                    [&](int64_t, int64_t offset, int64_t, int64_t) { body(x + offset, 0, lanes); });
    } else {
      walk.for_taps(
          position, position[walk.last()], lanes,
          [&](int64_t, int64_t offset, int64_t low, int64_t high) { body(x + offset, low, high); });
    }
  }

  /// Taps of lane `lane` that meet the input, or the padded input.
  int64_t taps_inside(int64_t lane, bool padding) const {
    int64_t taps = 1;
    for (int i = 0; i < walk.spatial; ++i) {
      const bool moves = i == walk.last() && !walk.channels_last;
      taps *= walk.taps_inside(i, position[i] + (moves ? lane : 0), padding);
    }
    return taps;
  }
};

/// Calls `body(block)` for blocks that cover the output once.
template <class Body>
void for_pool_blocks(const KernelContext& context, const WindowWalk& walk, const Body& body) {
  if (context.output(0).count() == 0) return;
  const int w = walk.last();
  const int64_t rows = walk.out_rows();
  const int64_t width = walk.out[w];
  const int64_t planes = walk.channels_last ? 1 : walk.channels;
  context.parallel_for(walk.batch * planes * rows, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit % rows;
      const int64_t image = unit / rows / planes;
      PoolBlock block{walk};
      walk.decode_row(row, block.position);
      if (walk.channels_last) {
        for (int64_t column = 0; column < width; ++column) {
          block.position[w] = column;
          const int64_t pixel = image * walk.out_plane + row * width + column;
          for (int64_t c = 0; c < walk.channels; c += kLanes) {
            block.lanes = walk.channels - c < kLanes ? walk.channels - c : kLanes;
            block.x = image * walk.in_plane * walk.channels + c;
            block.y = pixel * walk.channels + c;
            body(block);
          }
        }
      } else {
        block.x = unit / rows * walk.in_plane;
        block.x_step = walk.lane_step;
        for (int64_t column = 0; column < width; column += kLanes) {
          block.position[w] = column;
          block.lanes = width - column < kLanes ? width - column : kLanes;
          block.y = unit * width + column;
          body(block);
        }
      }
    }
  });
}

/// Calls `visit(lane, element)` for lanes [low, high); separate loops keep the dense case fast.
template <class Visit>
void for_lanes(int64_t low, int64_t high, int64_t at, int64_t step, const Visit& visit) {
  if (step == 1) {
    for (int64_t j = low; j < high; ++j) visit(j, at + (j - low));
  } else {
    for (int64_t j = low; j < high; ++j) visit(j, at + (j - low) * step);
  }
}

}  // namespace intarsia::cpu
