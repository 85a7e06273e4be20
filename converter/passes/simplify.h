// SPDX-License-Identifier: Apache-2.0
//
// Clean-up passes: they remove work without changing what the remaining nodes compute.
#pragma once

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Removes nodes whose result is their input: Identity, Dropout at inference, Cast to the same
/// type, Transpose that moves nothing, Reshape to the same extents, ..., or what an Optional before
/// them was given. Returns whether anything changed. REQUIRES: types and shapes are inferred.
bool remove_no_ops(Graph& graph);

/// Removes nodes whose results nobody uses, unless they are impure.
bool remove_dead_nodes(Graph& graph);

/// Lets nodes that compute the same from the same inputs share one result (value numbering). A node
/// in a sub-graph may share with one of an enclosing graph.
bool merge_common_subexpressions(Graph& graph);

/// All of the above, until nothing changes.
void simplify(Graph& graph);

/// Makes every output of every graph the result of one node of that graph, of which it is no other
/// output: constants, inputs, captured values and repetitions are copied by an Identity node. The
/// results of branches get the extents of the outputs that they become.
void materialize_outputs(Graph& graph);

}  // namespace intarsia::converter
