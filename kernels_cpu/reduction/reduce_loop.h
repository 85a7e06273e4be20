// SPDX-License-Identifier: Apache-2.0
//
// Reduction over a set of axes as a walk over runs.
//
// Axes of extent 1 are dropped, neighbours of one kind (kept or reduced) merged. What remains of
// the innermost two is [reduced][lanes], lanes being neighbouring outputs: a block of them where
// the innermost axis is kept, one where it is reduced. A run is one pass along the innermost
// reduced axis; how it is taken is told in common/row_steps.h.
#pragma once

#include <cstdint>

#include "core/operators/reduction/reduction.h"
#include "intarsia/kernel.h"
#include "kernels_cpu/common/row_steps.h"

namespace intarsia::cpu {

/// Most neighbouring outputs that are accumulated together.
inline constexpr int64_t kReduceLanes = INTARSIA_HAS_VECTORS ? 512 : 64;

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
      for (int axis = rank - 1; axis > 0; --axis) {
        result += index % extents[axis] * strides[axis];
        index /= extents[axis];
      }
      return rank > 0 ? result + index * strides[0] : 0;
    }
  };
  Axes kept;
  Axes reduced;        ///< At least one axis.
  int64_t row = 1;     ///< Neighbouring outputs whose inputs are neighbours.
  int64_t width = 1;   ///< Most outputs of a block.
  int64_t in_row = 1;  ///< Blocks that a row is cut into.
  int64_t blocks = 0;  ///< Blocks in all; 0 if there are no outputs.
  int64_t fold = 1;    ///< Outputs of one result; blocks are whole results.

  ReduceLoop(const TensorView& input, const bool (&is_reduced)[kMaxRank]);
  /// Cuts the outputs into blocks.
  void set_blocks();

  /// Elements from one position of a run to the next.
  int64_t stride() const { return reduced.strides[reduced.rank - 1]; }

  /// True if each output is made of neighbours, and they lie one after another.
  bool rows_are_dense() const {
    return blocks > 0 && reduced.count > 0 && row == 1 && reduced.rank == 1 && kept.rank == 1 &&
           stride() == 1 && kept.strides[0] == reduced.count;
  }

  /// Where the innermost axis is reduced, short, and lies inside a kept one, with more that is
  /// reduced outside: takes neighbours of both side by side, so that `fold` outputs have to be
  /// joined at the end.
  void take_side_by_side();

  struct Block {
    int64_t first;   ///< Index of the first output.
    int64_t lanes;   ///< Number of outputs.
    int64_t offset;  ///< Of the first output's first element in the input.
    int64_t count;   ///< How many blocks it is made of.
  };
  /// Block `index`, with those that follow it in its row as far as kReduceLanes go, `most` in all:
  /// memory is read in longer pieces, and every output is the same. REQUIRES: 0 <= index < blocks.
  Block block(int64_t index, int64_t most = 1) const;

  /// Walks the runs that make up the reduced positions [begin, end). REQUIRES: begin < end <=
  /// count.
  struct Runs {
    int64_t offset = 0;  ///< Of the first position of the run.
    int64_t length = 0;  ///< How many follow one another, in distances of stride().

    Runs(const Axes& reduced, int64_t begin, int64_t end);
    /// False after the last run.
    bool next();

   private:
    const Axes& axes_;
    int64_t left_;
    int64_t index_[kMaxRank];
  };
  /// Calls body(offset, length) for each of them.
  template <class Body>
  void for_runs(int64_t begin, int64_t end, const Body& body) const {
    if (begin >= end) return;
    Runs runs(reduced, begin, end);
    do {
      body(runs.offset, runs.length);
    } while (runs.next());
  }

  /// A reducer's step on stored elements. It joins four of them where the reducer has `join`.
  template <class Reducer, class Load>
  struct Step {
    using A = typename Reducer::Accumulator;
    Reducer reducer;
    Load load;

    template <class Stored>
    A operator()(A sum, Stored value) const {
      return reducer.step(sum, load(value));
    }
    template <class Stored>
    auto join(Stored a, Stored b, Stored c, Stored d) const requires requires {
      Reducer::join(load(a), load(b));
    }
    { return Reducer::join(Reducer::join(load(a), load(b)), Reducer::join(load(c), load(d))); }
    template <class Value>
    A add(A sum, Value value) const {
      return reducer.step(sum, value);
    }
  };

  /// Accumulates the reduced positions [begin, end) of `lanes` outputs, the first of which starts
  /// at x. Afterwards sums[0, lanes) hold the results. REQUIRES: room for kReduceLanes.
  template <class Reducer, class Stored, class Load>
  void accumulate(const Stored* x, int64_t lanes, int64_t begin, int64_t end,
                  typename Reducer::Accumulator* sums, Reducer reducer, Load load) const {
    using A = typename Reducer::Accumulator;
    const Step<Reducer, Load> step{reducer, load};
    const int64_t distance = stride();
    constexpr int64_t kMost = sizeof(A) <= sizeof(double) ? kRowLanes : 8;  // no vector code
    const int64_t groups =
        distance == lanes ? groups_for(reduced.extents[reduced.rank - 1], lanes, kMost) : 1;
    for (int64_t i = 0; i < lanes * groups; ++i) sums[i] = reducer.identity();
    for_runs(begin, end, [&](int64_t offset, int64_t length) {
      step_run(sums, x + offset, distance, length, lanes, groups, step);
    });
    merge_groups(sums, lanes, groups, [=](A a, A b) { return reducer.merge(a, b); });
  }
};

/// Reads the axes of a Reduce* node into `is_reduced`, and gives the output the extents that
/// follow.
Status resolve_reduction(const KernelContext& context, bool (&is_reduced)[kMaxRank]);

/// `check` of a Reduce* kernel of this element type, and this type of the result.
Status check_reduction(const KernelContext& context, KernelType type, KernelType result);

}  // namespace intarsia::cpu
