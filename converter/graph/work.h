// SPDX-License-Identifier: Apache-2.0
//
// What executing a node costs, told before it is executed: the limits of folding count it.
//
// An estimate from above, by operands and attributes alone, so that it is the same on every machine
// and no operator has to be known by name. Elements that are read and written are the least; beyond
// that, a node that has
//   two operands          multiplies matrices (m, k) and (k, n): the root of the product of the
//                         three numbers of elements is m k n
//   a window (Facts)      reads it for each element of the result, for every channel where weights
//                         have them; windows count as written, also outside of the input
//   a state (Facts)       multiplies each step by the weights of the recurrence
//   results that depend on values, or an operator from elsewhere   sorts, compares pairs or
//                         factorises: taken as the power 3/2 of all elements
#pragma once

#include <vector>

#include "converter/graph/evaluate.h"

namespace intarsia::converter {

/// Elementary steps, about a nanosecond each. `inputs`: null where absent. `by_values`: the extents
/// of `outputs` are bounds of what the values decide.
double work_of(const Node& node, const std::vector<const Constant*>& inputs,
               const std::vector<OutputPlan>& outputs, bool by_values);

}  // namespace intarsia::converter
