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
  WindowWalk walk(context.input(0), context.output(0), a.window.kernel_shape.values, a.window,
                  a.channels_last != 0);
  if (INTARSIA_HAS_VECTORS) walk.drop_single_positions();
  return walk;
}

/// The walk over joined planes; without vectors the walk itself, whose copy would take a good part
/// of a small program's stack.
template <bool kJoins = INTARSIA_HAS_VECTORS != 0>
decltype(auto) joined_planes(const WindowWalk& walk) {
  if constexpr (kJoins) {
    return walk.with_joined_planes();
  } else {
    return (walk);
  }
}

struct PoolBlock {
  const WindowWalk& walk;
  int64_t position[kMaxSpatial] = {};  ///< Output position; of lane 0 along the last axis.
  int64_t lanes = 0;
  int64_t x = 0;       ///< Element of X where the block's (first) channel begins.
  int64_t y = 0;       ///< Element of Y of lane 0; further lanes follow one by one.
  int64_t x_step = 1;  ///< Elements of X from one lane to the next.
  int64_t y_step = 1;  ///< Elements of Y.

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
};

/// How many output rows there are in all: of each image, or of each of its channels.
inline int64_t pool_rows(const KernelContext& context, const WindowWalk& walk) {
  if (context.output(0).count() == 0) return 0;
  return walk.batch * (walk.channels_last ? 1 : walk.channels) * walk.out_rows();
}

/// Calls `body(block)` for blocks that cover the output rows [begin, end) once.
template <class Body>
void for_pool_blocks(const WindowWalk& walk, int64_t begin, int64_t end, const Body& body) {
  const int w = walk.last();
  const int64_t rows = walk.out_rows();
  const int64_t width = walk.out[w];
  const bool last = walk.channels_last;
  const int64_t channels = last ? walk.channels : 1;
  for (int64_t unit = begin; unit < end; ++unit) {
    PoolBlock block{walk};
    walk.decode_row(unit % rows, block.position);
    block.x_step = last ? 1 : walk.lane_step;
    const int64_t plane = unit / rows * walk.in_plane * channels;
    for (int64_t column = 0; column < width; column += last ? 1 : kLanes) {
      block.position[w] = column;
      for (int64_t c = 0; c < channels; c += kLanes) {
        const int64_t rest = last ? channels - c : width - column;
        block.lanes = rest < kLanes ? rest : kLanes;
        block.x = plane + c;
        block.y = (unit * width + column) * channels + c;
        body(block);
      }
    }
  }
}

/// The same for the planes [begin, end), channels first, whose lanes are planes. `walk` says that
/// channels are last: all lanes meet the same taps.
template <class Body>
void for_plane_blocks(const WindowWalk& walk, int64_t begin, int64_t end, const Body& body) {
  const int64_t rows = walk.out_rows(), width = walk.out[walk.last()];
  for (int64_t plane = begin; plane < end; plane += kLanes) {
    PoolBlock block{walk};
    block.lanes = end - plane < kLanes ? end - plane : kLanes;
    block.x = plane * walk.in_plane;
    block.x_step = walk.in_plane;
    block.y_step = walk.out_plane;
    for (int64_t row = 0; row < rows; ++row) {
      walk.decode_row(row, block.position);
      for (int64_t column = 0; column < width; ++column) {
        block.position[walk.last()] = column;
        block.y = plane * walk.out_plane + row * width + column;
        body(block);
      }
    }
  }
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
