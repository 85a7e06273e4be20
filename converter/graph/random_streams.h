// SPDX-License-Identifier: Apache-2.0
//
// Random numbers: which nodes draw some, and what tells the numbers of one from those of another.
//
// A node that the model gives no seed draws from a stream of its own. It is chosen on import, by
// the node's place among those, so that one model always becomes the same plan, and that whatever
// passes do later changes no number. docs/decisions/0031-random-numbers.md.
#pragma once

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// True if the node's results differ from run to run: it is neither executed nor merged. A Dropout
/// that is known to copy draws nothing.
bool draws(const Node& node);

/// Gives every node a stream that draws and has no seed; `seed` chooses other ones. REQUIRES: the
/// nodes are resolved.
void assign_streams(Graph& graph, uint64_t seed);

}  // namespace intarsia::converter
