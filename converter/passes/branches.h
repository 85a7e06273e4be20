// SPDX-License-Identifier: Apache-2.0
//
// Branches of a network that are linear in the same tensor and are summed, as networks trained with
// several convolutions side by side have them (RepVGG, MobileOne):
//
//     conv(x, V) + b + conv(x, W) + c  ->  conv(x, V + W) + (b + c)
//
// where the window of W has no taps but those of V's. A branch that only scales and shifts the
// channels of x, as BatchNormalization does, is a convolution by one tap; so is x itself, which
// joins convolutions of single channels. Elsewhere it costs nothing as a residual, and is exact.
//
// Source: Ding et al., RepVGG: Making VGG-style ConvNets Great Again, 2021, section 3.3.
#pragma once

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Makes a sum of two such branches one convolution. True if it did; the other branch is left
/// behind without readers.
bool merge_branches(Node& sum);

}  // namespace intarsia::converter
