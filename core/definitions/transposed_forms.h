// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions that are convolutions: without strides, what spreads from an element to
// its neighbours comes to each from them, through the kernel turned round.
//
//     ConvTranspose(X, W, pads, dilations) = Conv(X, W', reach - pads, dilations)
//     W'[M][C / group][k] = W[C][M / group][K - 1 - k],     reach = dilation * (K - 1)
//
// So they have all kernels of Conv.
#pragma once

#include "core/definitions/expansion.h"
#include "core/definitions/facts.h"

namespace intarsia::definitions {

/// Whether a ConvTranspose is better computed so: its result is not much larger than its data, or
/// most terms would be padding; and its kernels do not know better (one filter for many channels
/// of a group, as weights that pick places have it).
bool is_convolution(const std::byte* attributes, std::span<const SymbolicInput> inputs);

void expand_as_convolution(ExpansionContext& e);

}  // namespace intarsia::definitions
