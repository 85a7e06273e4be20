// SPDX-License-Identifier: Apache-2.0
//
// The way back through loops and branches.
//
// A branch goes back in a branch: an If of the same condition has for each a copy of the branch and
// the way back through it. What the branch has drawn at random, the If keeps in an output of its
// own.
//
// A loop goes back in a loop, from its last trip to the first. The body is a copy of the body and
// the way back through it; what it needs of a trip is collected by the loop itself, in outputs that
// it gets for that: the values that the trip was given, what it has drawn at random. The rest is
// computed anew, so that memory for it is needed for one trip only.
//
//     g = gradients of the carried values behind the loop, sums = 0
//     for trip = last to first:
//       values = those collected of the trip
//       g, part = the way back through body(trip, values), from g and the gradients of what the
//       trip
//                 yields
//       sums = sums + part, for each value outside that the body reads
//
// Of a tensor from which a trip takes one slice (Gather), as what Scan goes through, only the
// slices' gradients are collected: no trip takes longer than the body does.
#pragma once

#include "converter/graph/gradient_sweep.h"

namespace intarsia::converter {

/// True if there is a way back through nodes with sub-graphs like this one.
bool goes_back_through_graphs(const Node& node);

/// Adds the gradients of what `node` reads to those that the sweep has.
/// REQUIRES: goes_back_through_graphs.
void go_back_through_graphs(GradientSweep& sweep, Node& node);

}  // namespace intarsia::converter
