// SPDX-License-Identifier: Apache-2.0
//
// What a kernel needs of workspace where extents vary.
#pragma once

#include <cstdint>

#include "converter/graph/kernel_selection.h"

namespace intarsia::converter {

/// Bytes of workspace that suffice at all extents that the node can have. Most kernels need most at
/// the largest ones. Not so where parts of a computation share a budget, as channels and taps of a
/// convolution do: smaller extents of the one leave more for the other. Therefore a kernel is asked
/// for all values of what extents vary with, symbols and numbers of elements that a node finds,
/// where there are few, else for a sample of them. `planned` shows the node at its largest extents.
int64_t most_workspace(const Node& node, const KernelContext& planned,
                       const definitions::KernelRow& kernel);

}  // namespace intarsia::converter
