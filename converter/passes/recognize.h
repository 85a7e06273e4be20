// SPDX-License-Identifier: Apache-2.0
//
// Operators that exporters spell out in smaller ones, found again: Swish, HardSigmoid, HardSwish,
// Gelu in both forms, LayerNormalization.
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// Replaces `last` by one operator if it is the last node of a spelling that is known. Leaves dead
/// nodes behind.
bool recognize(Node& last, Inference& inference);

}  // namespace intarsia::converter
