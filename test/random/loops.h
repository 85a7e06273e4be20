// SPDX-License-Identifier: Apache-2.0
//
// Loops in random models: what a Loop or a Scan computes, trip by trip, by the reference kernels.
#pragma once

#include "converter/plugin/extension.h"
#include "test/random/random_model.h"

namespace intarsia::test {

/// What a loop has computed in one run.
struct LoopResults {
  int64_t trips = 0;  ///< that its nodes accept
  std::vector<Constant> values;
  std::vector<double> errors;
};

/// Trips that a node makes in a run, as far as its nodes accept what they are given: a Loop as many
/// as its first input says, a Scan one for each slice. Before the first trip the body's inputs have
/// the values that the model notes for them.
LoopResults execute_loop(const RandomModel& model, const RandomNode& node, size_t run,
                         const converter::OperatorLibrary& library);

/// The slice of `tensor` at `index` of `axis`, without that axis.
Constant slice_of(const Constant& tensor, int axis, int64_t index);

}  // namespace intarsia::test
