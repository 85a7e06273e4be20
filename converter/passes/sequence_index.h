// SPDX-License-Identifier: Apache-2.0
//
// Loops over sequences that do not change while they run.
//
// The elements of a sequence lie one behind another, so SequenceAt walks from its begin, and a loop
// that takes each element would take the square of their number in steps. Where a loop reads a
// sequence from outside, an index of its entries is made once, where the sequence is (operator
// SequenceIndex of the converter's own), and the loop's SequenceAt finds its entry there
// (SequenceElement).
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// REQUIRES: types and extents are inferred.
void index_sequences(Graph& graph, Inference& inference);

}  // namespace intarsia::converter
