// SPDX-License-Identifier: Apache-2.0
//
// The loop that the reference convolutions share: the elements of an output row of one filter, in
// runs of up to kLanes sums side by side, which start as the bias. Output rows are shared out over
// the threads.
#pragma once

#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/nn/window_walk.h"

namespace intarsia::cpu {

struct ConvRun {
  int64_t image = 0, filter = 0;
  int64_t position[kMaxSpatial] = {};  ///< Output position, but for the last axis:
  int64_t first = 0, lanes = 0;        ///< [first, first + lanes).
};

/// Calls `add_terms(run, sums)` for runs that cover the output once. `result` says where a sum
/// starts and stores it, as ReferenceEpilogue does.
template <class Result, class AddTerms>
void convolve_rows(const KernelContext& context, const WindowWalk& walk, int64_t filters,
                   const Result& result, const AddTerms& add_terms) {
  const int64_t rows = walk.out_rows();
  const int64_t width = walk.out[walk.last()];
  const int64_t y_step = walk.channels_last ? filters : 1;
  context.parallel_for(walk.batch * filters * rows, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit % rows;
      ConvRun run;
      run.filter = unit / rows % filters;
      run.image = unit / rows / filters;
      walk.decode_row(row, run.position);
      for (run.first = 0; run.first < width; run.first += kLanes) {
        run.lanes = width - run.first < kLanes ? width - run.first : kLanes;
        decltype(result.start(0)) sums[kLanes];
        for (int64_t j = 0; j < run.lanes; ++j) sums[j] = result.start(run.filter);
        add_terms(run, sums);
        const int64_t place = row * width + run.first;
        const int64_t at = walk.channels_last
                               ? (run.image * walk.out_plane + place) * filters + run.filter
                               : (run.image * filters + run.filter) * walk.out_plane + place;
        for (int64_t j = 0; j < run.lanes; ++j) result.store(at + j * y_step, sums[j]);
      }
    }
  });
}

}  // namespace intarsia::cpu
