// SPDX-License-Identifier: Apache-2.0
//
// Reduction over a set of axes as a walk over rows of lanes.
//
// Axes of extent 1 are dropped, neighbours of one kind (kept or reduced) merged. Where the
// innermost axis is kept, up to kReduceLanes neighbouring outputs are accumulated together; where
// it is reduced, its elements are dealt to kReduceLanes accumulators that are merged at the end.
// Either way the inner loop runs over neighbouring elements and neighbouring accumulators.
#pragma once

#include <cstdint>

#include "core/operators/reduction/reduction.h"
#include "intarsia/kernel.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

inline constexpr int kReduceLanes = 16;

struct ReduceLoop {
  /// Merged axes of one kind, outermost first; strides in elements of the input.
  struct Axes {
    int rank = 0;
    int64_t count = 1;
    int64_t extents[kMaxRank] = {};
    int64_t strides[kMaxRank] = {};

    /// Offset of element `index` in row-major order. REQUIRES: 0 <= index < count.
    int64_t offset(int64_t index) const {
      int64_t result = 0;
      for (int axis = rank - 1; axis >= 0; --axis) {
        result += index % extents[axis] * strides[axis];
        index /= extents[axis];
      }
      return result;
    }
  };
  Axes kept;
  Axes reduced;
  bool inner_kept = false;  ///< The innermost axis is a kept one.

  ReduceLoop(const TensorView& input, const bool (&is_reduced)[kMaxRank]);

  /// Length of a run of outputs whose inputs are neighbours.
  int64_t outputs_in_row() const { return inner_kept ? kept.extents[kept.rank - 1] : 1; }

  /// Accumulates the elements behind `lanes` outputs whose first elements start at x. Afterwards
  /// accumulators[0 .. lanes) hold the results. REQUIRES: lanes == 1 unless inner_kept.
  template <class Reducer, class Stored, class Load>
  void accumulate(const Stored* x, int lanes, typename Reducer::Accumulator* accumulators,
                  const Load& load) const {
    for (int lane = 0; lane < kReduceLanes; ++lane) accumulators[lane] = Reducer::identity();
    if (reduced.count == 0) return;
    const int inner = reduced.rank - 1;
    const int64_t length = inner >= 0 ? reduced.extents[inner] : 1;
    const int64_t stride = inner >= 0 ? reduced.strides[inner] : 1;
    const int64_t rows = reduced.count / length;
    int64_t index[kMaxRank] = {};
    for (int64_t row = 0; row < rows; ++row) {
      if (inner_kept) {
        for (int64_t i = 0; i < length; ++i) {
          step_lanes<Reducer>(x + i * stride, lanes, accumulators, load);
        }
      } else {
        int64_t i = 0;
        for (; i + kReduceLanes <= length; i += kReduceLanes) {
          step_lanes<Reducer>(x + i, kReduceLanes, accumulators, load);
        }
        step_lanes<Reducer>(x + i, static_cast<int>(length - i), accumulators, load);
      }
      for (int axis = inner - 1; axis >= 0; --axis) {
        x += reduced.strides[axis];
        if (++index[axis] < reduced.extents[axis]) break;
        x -= reduced.extents[axis] * reduced.strides[axis];
        index[axis] = 0;
      }
    }
    if (inner_kept) return;
    for (int width = kReduceLanes / 2; width > 0; width /= 2) {
      for (int lane = 0; lane < width; ++lane) {
        accumulators[lane] = Reducer::merge(accumulators[lane], accumulators[lane + width]);
      }
    }
  }

 private:
  template <class Reducer, class Stored, class Load>
  static void step_lanes(const Stored* x, int lanes, typename Reducer::Accumulator* accumulators,
                         const Load& load) {
    if (lanes == kReduceLanes) {  // a constant count, so that it becomes vector code
      INTARSIA_INDEPENDENT
      for (int lane = 0; lane < kReduceLanes; ++lane) {
        accumulators[lane] = Reducer::step(accumulators[lane], load(x[lane]));
      }
    } else {
      for (int lane = 0; lane < lanes; ++lane) {
        accumulators[lane] = Reducer::step(accumulators[lane], load(x[lane]));
      }
    }
  }
};

/// Reads the axes of a Reduce* node into `is_reduced`, and gives the output the extents that
/// follow.
Status resolve_reduction(const KernelContext& context, bool (&is_reduced)[kMaxRank]);

/// `check` of a Reduce* kernel of this element type.
Status check_reduction(const KernelContext& context, KernelType type);

}  // namespace intarsia::cpu
