// SPDX-License-Identifier: Apache-2.0
//
// A node as kernels see it, at extents that it can have.
//
// A kernel that serves the largest extents need not serve smaller ones (a window of three columns),
// and may need more workspace for those, where parts of a computation share a budget, as channels
// and taps of a convolution do. So whatever the converter asks a kernel, it asks at other extents,
// too: all of them where there are few, else a sample.
#pragma once

#include <deque>

#include "converter/graph/kernel_selection.h"

namespace intarsia::converter {

class NodeExtents {
 public:
  /// Throws UnboundedError as `planned_extents` does. `node` must outlive it, and not change.
  explicit NodeExtents(const Node& node, int threads = 1);

  /// At the largest extents, for which the plan is made.
  OperandViews& planned() { return planned_; }
  /// Where extents vary, for values of all that they vary with: symbols, and numbers of elements
  /// that a node finds. Not where an operand has no elements: such nodes need no workspace, and
  /// kernels may divide by an extent. Found when first asked for.
  std::deque<OperandViews>& others();

 private:
  const Node& node_;
  int threads_;
  OperandViews planned_;
  bool known_ = false;
  std::deque<OperandViews> others_;
};

/// As for a single context, at planned extents. The kernel refuses no others that the reference
/// kernel accepts.
const definitions::KernelRow* select_kernel(const Node& node, NodeExtents& extents,
                                            const definitions::KernelRows& rows,
                                            const KernelChoice& choice);

}  // namespace intarsia::converter
